// The memories of one NIC in a run, made from what its boxes declare. A box takes its own, and those of its neighbours
// that it accesses, when it is built.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cause.h"
#include "engine/clock_domain.h"
#include "engine/memory_declaration.h"
#include "engine/memory_structure.h"
#include "engine/occupancy.h"

namespace mrc {

class Memories {
  [[noreturn]] static void refuse(std::string_view name);
  template <typename Table, typename Id>
  static auto& found(Table& table, const Id& id) {
    const auto entry = table.find(&id);
    if (entry == table.end()) refuse(id.name);
    return entry->second;
  }

 public:
  /// `name`: of the node, for the keys of its random draws.
  Memories(const MemoryDeclarations& declared, const NicConfig& nic, std::uint64_t seed, const std::string& name,
           CauseTable& causes);

  // A memory that no box declares is a fault of the program: std::logic_error.
  MemoryStructure& operator[](const PortedMemory& memory) { return *found(ported_, memory); }
  const MemoryStructure& operator[](const PortedMemory& memory) const { return *found(ported_, memory); }
  AccessCounter& operator[](const CountedTable& table) { return found(tables_, table); }
  const AccessCounter& operator[](const CountedTable& table) const { return found(tables_, table); }

  /// Accesses of `memory` are those of `queue`; called once for each of its instances.
  void count(const QueueMemory& memory, const Occupancy& queue) { found(queues_, memory).push_back(&queue); }
  const std::vector<const Occupancy*>& queues(const QueueMemory& memory) const { return found(queues_, memory); }

 private:
  std::map<const PortedMemory*, std::unique_ptr<MemoryStructure>> ported_;
  std::map<const CountedTable*, AccessCounter> tables_;
  std::map<const QueueMemory*, std::vector<const Occupancy*>> queues_;
};

}  // namespace mrc
