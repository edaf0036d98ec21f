// Reads work requests from the host's send queues, a batch per read, and hands them to the QP's requestor. Takes those
// that doorbells carry.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class QpScheduler;
class SackProcessor;

class WqeFetch : public Box, private ReadClient {
 public:
  static constexpr PortedMemory kPrefetch{.name = "wqe_fetch.prefetch", .parameters = "nic.memory.wqe_prefetch"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  WqeFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
           QpScheduler& scheduler);

  /// Who completes work that was posted to a QP in error.
  void connect(SackProcessor& sack_processor) { sack_processor_ = &sack_processor; }
  /// A doorbell has brought the next WQE of the QP.
  void take_carried(TimePs now, std::uint32_t qp, StartId because);
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  /// Moves `wqes` work requests from the QP's send queue to its requestor, which may send them from `at` on.
  void hand_over(TimePs now, Qp& qp, std::uint32_t wqes, TimePs at, StartId because);

  NicContext& nic_;
  MemoryStructure& prefetch_memory_;
  PcieDma& pcie_;
  QpScheduler& scheduler_;
  SackProcessor* sack_processor_ = nullptr;
  Fifo<std::uint32_t>& requests_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
