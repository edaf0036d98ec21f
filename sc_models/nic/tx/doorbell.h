// Takes doorbell writes from the host and tells the scheduler which QP has new work. A doorbell may carry its WQE.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"

namespace mrc::timing {

class QpScheduler;
class WqeFetch;

class Doorbell : public Box {
 public:
  static constexpr QueueMemory kQueue{"doorbell.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  Doorbell(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, QpScheduler& scheduler);
  /// Who takes the WQEs that doorbells carry. Before the run.
  void connect(WqeFetch& wqe_fetch) { wqe_fetch_ = &wqe_fetch; }

  /// The host's MMIO write reaches the NIC at `arrival`. False when the queue is full; the host then waits for room.
  Fifo<std::uint32_t>& queue() { return queue_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  /// The doorbell at hand has a WQE, and it is the next of its QP.
  bool brings_next_wqe(const Qp& qp) const;

  NicContext& nic_;
  QpScheduler& scheduler_;
  WqeFetch* wqe_fetch_ = nullptr;
  Fifo<std::uint32_t> queue_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
