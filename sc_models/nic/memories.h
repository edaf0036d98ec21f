// The memories of a NIC whose ports and cells are modelled, and counters of its small tables.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/ledger.h"
#include "engine/memory_structure.h"
#include "engine/occupancy.h"
#include "parameters/config.h"

namespace mrc {

enum class MemoryId : std::uint8_t {
  qp_context,
  wqe_prefetch,
  retransmit_records,
  retransmit_payload,
  path_table,
  congestion,
  bitmap,
  packet_buffer,
  rx_staging,
  completion_buffer,
  port_fifo,
  completion_queue,
  count
};
inline constexpr std::size_t kMemories = static_cast<std::size_t>(MemoryId::count);

/// Read and written at most once a packet; they are counted only.
enum class SmallTable : std::uint8_t {
  encap_template,
  reverse_paths,
  retransmit_timer,
  probe_turns,
  free_banks,
  count
};
inline constexpr std::size_t kSmallTables = static_cast<std::size_t>(SmallTable::count);

/// The ledger's cause of waiting for a port of this memory.
constexpr BlockedBy waits_for(MemoryId id) {
  return static_cast<BlockedBy>(static_cast<std::size_t>(BlockedBy::sram_qp_context) + static_cast<std::size_t>(id));
}

class Memories {
 public:
  /// `name`: of the node, for the keys of its random draws.
  Memories(const NodeConfig& node, const ProtocolConfig& protocol, std::uint64_t seed, const std::string& name);

  MemoryStructure& operator[](MemoryId id) { return *memories_[static_cast<std::size_t>(id)]; }
  const MemoryStructure& operator[](MemoryId id) const { return *memories_[static_cast<std::size_t>(id)]; }
  AccessCounter& operator[](SmallTable id) { return small_[static_cast<std::size_t>(id)]; }
  const AccessCounter& operator[](SmallTable id) const { return small_[static_cast<std::size_t>(id)]; }

 private:
  std::array<std::unique_ptr<MemoryStructure>, kMemories> memories_;
  std::array<AccessCounter, kSmallTables> small_;
};

}  // namespace mrc
