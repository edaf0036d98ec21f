// What a box declares of its memories: name, geometry and what counts their accesses. The floorplan is made from the
// declarations alone; a NIC builds its MemoryStructures and counters from the same ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mrc/protocol_config.h"
#include "parameters/config.h"

namespace mrc {

/// Bits that count from 0 to `most`.
constexpr std::uint64_t bits_for(std::uint64_t most) {
  return std::max<std::uint64_t>(1, std::bit_width(most));
}

/// Part of a memory's word.
struct MemoryField {
  std::string_view name;
  std::uint64_t bits = 0;  ///< 0: the word has no such field
};

/// Into a payload memory, in units of 64 B.
inline constexpr MemoryField kBufferPointerField{"buffer pointer", 24};

// The three kinds of memory below are constants of the box that owns them; their address is the memory's identity.

/// Its ports and cells are modelled: accesses can wait and fail.
struct PortedMemory {
  std::string_view name;
  std::string_view parameters;  ///< start of the keys of its ports, banks and error rates
  bool streamed = false;        ///< accessed as a packet's words in a row
  bool checks_writes = false;   ///< an error can be found when a word is stored, not only when it is read
};
/// A small table that is accessed at most once per packet: its accesses are counted and never wait.
struct CountedTable {
  std::string_view name;
};
/// The storage of a queue, counted by the queue's Occupancy.
struct QueueMemory {
  std::string_view name;
};

struct MemoryGeometry {
  std::uint64_t depth = 0;  ///< words of an instance
  std::uint32_t instances = 1;
  std::uint32_t banks = 1;
  MemoryPorts ports = MemoryPorts::one_r_one_w;  ///< of a bank; of a queue: one in, one out
};

struct MemoryDeclaration {
  using Counter = std::variant<std::monostate, const PortedMemory*, const CountedTable*, const QueueMemory*>;

  std::string_view name;
  MemoryGeometry geometry;
  std::vector<MemoryField> fields;
  Counter counter;                       ///< none: not counted
  const MemoryConfig* config = nullptr;  ///< of a PortedMemory itself

  std::uint64_t width_bits() const {
    std::uint64_t sum = 0;
    for (const MemoryField& field : fields) sum += field.bits;
    return sum;
  }
};

/// How much a NIC is connected to; tables with an entry per QP or per destination grow with it.
struct NicScale {
  std::uint32_t qps = 1;
  std::uint32_t destinations = 1;
};

/// What a box declares its memories from.
struct MemoryScope {
  const NodeConfig& node;
  const ProtocolConfig& protocol;
  NicScale scale;

  /// Words of the datapath that `bytes` fill.
  std::uint64_t datapath_words(std::uint64_t bytes) const {
    return (bytes * 8 + node.nic.datapath_bits - 1) / node.nic.datapath_bits;
  }
};

/// Collects what boxes declare, in their order.
class MemoryDeclarations {
 public:
  using Fields = std::vector<MemoryField>;

  /// Ports and banks are those of `config`, which outlives the declarations.
  void add(const PortedMemory& memory, std::uint64_t depth, const MemoryConfig& config, Fields fields,
           std::uint32_t instances = 1) {
    add_row(memory.name, {depth, instances, config.banks, config.ports}, std::move(fields), &memory, &config);
  }
  void add(const CountedTable& table, const MemoryGeometry& geometry, Fields fields) {
    add_row(table.name, geometry, std::move(fields), &table);
  }
  void add(const QueueMemory& queue, const MemoryGeometry& geometry, Fields fields) {
    add_row(queue.name, geometry, std::move(fields), &queue);
  }
  /// A table that is read and written together with `memory`, and counted by it.
  void add_beside(const PortedMemory& memory, std::string_view name, const MemoryGeometry& geometry, Fields fields) {
    add_row(name, geometry, std::move(fields), &memory);
  }
  void add_uncounted(std::string_view name, const MemoryGeometry& geometry, Fields fields) {
    add_row(name, geometry, std::move(fields), {});
  }

  const std::vector<MemoryDeclaration>& rows() const { return rows_; }

 private:
  void add_row(std::string_view name, const MemoryGeometry& geometry, Fields fields, MemoryDeclaration::Counter counter,
               const MemoryConfig* config = nullptr) {
    rows_.push_back({name, geometry, std::move(fields), counter, config});
  }

  std::vector<MemoryDeclaration> rows_;
};

}  // namespace mrc
