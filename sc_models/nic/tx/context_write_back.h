// Contexts that have left the NIC's cache, on their way to host memory: a PCIe write each, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/box.h"
#include "engine/memories.h"
#include "engine/occupancy.h"
#include "nic/nic_context.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class ContextWriteBack : private WriteClient {
 public:
  static constexpr QueueMemory kBuffer{"qp_scheduler.write_back"};

  /// `box` is stepped when step() has something to do.
  ContextWriteBack(Box& box, NicContext& nic, PcieDma& pcie, MemoryStructure& contexts);

  bool has_room() const { return leaving_.size() < entries_.capacity(); }
  /// Its write has not left: what a read brings would be older.
  bool holds(std::uint32_t qp) const;
  /// The context of QP `qp` (index) has been evicted. Precondition: has_room().
  void add(TimePs now, std::uint32_t qp);
  /// True if there is more room than before.
  bool step(TimePs now);

 private:
  struct Leaving {
    std::uint32_t qp = 0;
    TimePs read_at = 0;  ///< from the cache's memory
    bool is_written = false;
    TimePs left_at = kNever;
  };

  void write_left(std::uint64_t cookie, TimePs now, TimePs last_end) override;
  void begin_write(TimePs now);

  Box& box_;
  NicContext& nic_;
  PcieDma& pcie_;
  MemoryStructure& contexts_;
  std::deque<Leaving> leaving_;  ///< the first is being written
  Occupancy entries_;
  std::vector<std::byte> content_;  ///< for a host that looks at nothing but the address
};

}  // namespace mrc::timing
