// Writes completion queue entries to host memory and lets software see them: sends when the peer's transport ACK is in,
// receives behind the data they announce. With moderation it gathers entries, in order, and writes them at once when
// there are enough or the oldest has waited long enough. A write per interval enters the pipeline; what leaves it goes
// to pcie_dma one by one.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "mrc/ring.h"
#include "nic/nic_context.h"
#include "node/cqe.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class Completion : public Box, private ReadClient, private WriteClient {
 public:
  static constexpr PortedMemory kQueue{.name = "completion.queue", .parameters = "nic.memory.completion_queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  Completion(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie);
  /// The queue from which software polls.
  void connect(Fifo<Cqe>& host_queue) {
    host_queue_ = &host_queue;
    declare(DeclaredBuffer{.occupancy = &host_queue.occupancy()});
  }

  Fifo<Cqe>& in() { return in_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void write_left(std::uint64_t cookie, TimePs now, TimePs last_end) override;
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  /// Takes what is there, up to a write's worth and the room in the completion queue; false if that is full.
  bool gather(TimePs now);
  void take(TimePs now);
  void begin_rebuild(TimePs now);
  void start_write(TimePs now);
  /// The oldest write in the pipeline goes to pcie_dma, once it has passed the pipeline and the one before it has left.
  void hand_over(TimePs now);

  NicContext& nic_;
  MemoryStructure& queue_memory_;
  PcieDma& pcie_;
  Fifo<Cqe> in_;
  Cause cq_full_;     ///< the completion queue in host memory is full
  Cause moderation_;  ///< CQEs are gathered
  StartTrace starts_;
  std::vector<Cqe> gathered_;
  TimePs gathered_since_ = 0;
  TimePs moderation_ps_;
  TimePs delay_ = 0;             ///< that the entries at hand waited for the memory
  bool rebuild_wanted_ = false;  ///< an entry could not be read: its QP's context is fetched to build it again
  bool rebuilding_ = false;
  Fifo<Cqe>* host_queue_ = nullptr;
  struct Write {
    std::uint32_t entries = 0;
    TimePs out_at = 0;  ///< it has passed the pipeline
  };
  Ring<Write> writes_;         ///< in the pipeline, or leaving
  Ring<Cqe> entries_;          ///< of these writes
  std::uint64_t most_writes_;  ///< that the pipeline holds
  bool leaving_ = false;       ///< the oldest is with pcie_dma
  TimePs last_left_ = 0;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
