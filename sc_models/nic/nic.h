// The NIC: wires its boxes and nothing else. The constructor reads like the picture in docs/architecture.md.
#pragma once

#include <memory>
#include <vector>

#include "engine/wheel_module.h"
#include "fabric/link.h"
#include "host/host_memory.h"
#include "nic/control/ack_coalescer.h"
#include "nic/control/completion.h"
#include "nic/control/control_queue.h"
#include "nic/control/probe_engine.h"
#include "nic/control/retransmit_timer.h"
#include "nic/control/sack_processor.h"
#include "nic/nic_context.h"
#include "nic/nic_rtl.h"
#include "nic/port.h"
#include "nic/rx/dma_write.h"
#include "nic/rx/parser.h"
#include "nic/rx/psn_tracker.h"
#include "nic/tx/doorbell.h"
#include "nic/tx/idle_causes.h"
#include "nic/tx/payload_fetch.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/segmenter.h"
#include "nic/tx/spray_scheduler.h"
#include "nic/tx/srv6_encap.h"
#include "nic/tx/wqe_fetch.h"
#include "pcie/pcie_dma.h"
#include "results/run_result.h"

namespace mrc::timing {

/// The cables of one port, as the NIC sees them.
struct PortLinks {
  Link* transmit = nullptr;
  Link* receive = nullptr;
};

class Nic : public sc_core::sc_module {
 public:
  /// `context.qps` is complete: QPs are set up before the NIC is built. `owner` runs the boxes.
  Nic(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& context, HostMemory& memory,
      const std::vector<PortLinks>& links, NicRtl rtl);

  Doorbell& doorbell() { return *doorbell_; }
  Completion& completion() { return *completion_; }
  PcieDma& pcie() { return *pcie_; }
  const PcieDma& pcie() const { return *pcie_; }
  SackProcessor& sack_processor() { return *sack_processor_; }
  PortStatusAgent& port_status() { return probe_engine_->port_status(); }
  const PortStatusAgent& port_status() const { return probe_engine_->port_status(); }
  /// What a timeline has in store for ports and PCIe; told before the run.
  void set_faults(const std::vector<PortDarkness>& darkness, const std::vector<PortRate>& rates,
                  const std::vector<TimeSpan>& pcie_stalls);

  /// Buffers that are emptied when somebody looks are looked at: call it before buffers() at the end of the run.
  void settle(TimePs end);
  /// Closes the ledger at the end of the run.
  void finish(TimePs end);
  std::vector<const IssueSlot*> slots() const;
  std::vector<const Occupancy*> buffers() const;
  /// What entered the transmit and the receive side, what left and what they hold, in packets and payload bytes. Holds
  /// whenever no box is being stepped.
  std::vector<AccountResult> accounts() const;
  /// Queues that are no buffers to size, for who watches what moves through them.
  std::vector<const Occupancy*> inner_queues() const;
  /// The NIC's memories with how they were used up to `end`.
  std::vector<SramResult> memory_table(const NicScale& scale, TimePs end) const;
  IdleCauses& idle_causes() { return *idle_causes_; }
  const IdleCauses& idle_causes() const { return *idle_causes_; }
  const std::vector<std::unique_ptr<Port>>& ports() const { return ports_; }
  /// Sum over ports: time that packets took longer than at full rate.
  TimePs slow_ps() const {
    TimePs sum = 0;
    for (const auto& port : ports_) sum += port->slow_ps();
    return sum;
  }
  const NicRtl& rtl() const { return rtl_; }
  const RetransmitBuffer& retransmit_buffer() const { return *retransmit_buffer_; }

 private:
  void watch_idle_ports();
  std::vector<IssueSlot*> mutable_slots();

  const NicContext& context_;
  NicRtl rtl_;
  std::unique_ptr<PcieDma> pcie_;
  std::unique_ptr<IdleCauses> idle_causes_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::unique_ptr<RetransmitBuffer> retransmit_buffer_;
  std::unique_ptr<QpScheduler> qp_scheduler_;
  std::unique_ptr<Doorbell> doorbell_;
  std::unique_ptr<WqeFetch> wqe_fetch_;
  std::unique_ptr<Segmenter> segmenter_;
  std::unique_ptr<PayloadFetch> payload_fetch_;
  std::unique_ptr<RetransmitTimer> retransmit_timer_;
  std::unique_ptr<SprayScheduler> spray_scheduler_;
  std::unique_ptr<Srv6Encap> srv6_encap_;
  std::unique_ptr<Parser> parser_;
  std::unique_ptr<ControlQueue> control_queue_;
  std::unique_ptr<AckCoalescer> ack_coalescer_;
  std::unique_ptr<Completion> completion_;
  std::unique_ptr<DmaWrite> dma_write_;
  std::unique_ptr<PsnTracker> psn_tracker_;
  std::unique_ptr<SackProcessor> sack_processor_;
  std::unique_ptr<ProbeEngine> probe_engine_;
};

}  // namespace mrc::timing

namespace mrc {
using timing::Nic;
using timing::PortLinks;
}  // namespace mrc
