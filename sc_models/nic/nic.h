// The NIC: wires its boxes and nothing else. The constructor reads like the picture in docs/architecture.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/picture.h"
#include "engine/wheel_module.h"
#include "fabric/link.h"
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
#include "nic/rx/overrun_causes.h"
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
#include "pcie/host_memory.h"
#include "pcie/pcie_dma.h"
#include "results/run_result.h"

namespace mrc::timing {

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
  ProbeEngine& probe_engine() { return *probe_engine_; }
  /// RTL of spray_scheduler has the path tables, too.
  bool has_paths_in_rtl() const { return rtl_.spray_scheduler != nullptr; }
  /// A QP that was connected while time passes has its sending half.
  void begin_sending(TimePs now, Qp& qp);
  /// Software has closed the QP: it has a receiving half, where it receives, in the place of one whose edge had passed
  /// `received`. begin_sending() follows where it sends.
  void closed(TimePs now, const Qp& qp, Psn received);
  /// Packets that belong to this QP, either way, are in the NIC.
  bool holds_packets_of(const Qp& qp) const;
  /// Packets may have paths again, by what software did.
  void paths_changed(TimePs now) { spray_scheduler_->retry(now, 0); }
  PortStatusAgent& port_status() { return probe_engine_->port_status(); }
  const PortStatusAgent& port_status() const { return probe_engine_->port_status(); }
  PathDrain& path_drain() { return probe_engine_->path_drain(); }
  /// What a timeline has in store for ports and PCIe; told before the run.
  void set_faults(const std::vector<PortDarkness>& darkness, const std::vector<PortRate>& rates,
                  const std::vector<TimeSpan>& pcie_stalls);

  /// Buffers that are emptied when somebody looks are looked at: call it before buffers() at the end of the run.
  void settle(TimePs end);
  /// Closes the ledger at the end of the run.
  void finish(TimePs end);
  /// All boxes, in the order of the picture; what they declare is what results list.
  std::span<Box* const> boxes() const { return boxes_; }
  std::vector<const IssueSlot*> slots() const;
  /// That have a size of their own.
  std::vector<const Occupancy*> buffers() const;
  /// Of what held up the slots.
  const CauseTable& causes() const { return context_.causes; }
  /// What entered the transmit and the receive side, what left and what they hold, in packets and payload bytes. Holds
  /// whenever no box is being stepped.
  std::vector<AccountResult> accounts() const;
  /// The NIC's memories with how they were used up to `end`.
  std::vector<SramResult> memory_table(const NicScale& scale, TimePs end) const;
  IdleCauses& idle_causes() { return *idle_causes_; }
  const IdleCauses& idle_causes() const { return *idle_causes_; }
  const OverrunCauses& overrun_causes() const { return *overrun_causes_; }
  const std::vector<std::unique_ptr<Port>>& ports() const { return ports_; }
  /// What the ports sent while the account of their time was open, of a packet on its way only what had left.
  struct Sent {
    NodeCounters counters;
    BoxCounters of_boxes;
    std::vector<TimePs> slow_ps;  ///< by port: packets took longer than at full rate
  };
  /// The same so far.
  Sent sent_until(TimePs now) const;
  /// With the node's first work; later calls change nothing.
  void open_account(TimePs now);
  /// At the end of the node's work; later calls change nothing.
  void close_account(TimePs now);
  /// A message of a program has completed, perhaps the last: the account stays open until the program ends.
  void note_completion(TimePs now);
  /// Bytes on the wire of control packets sent since the latest note_completion().
  std::uint64_t control_since_completion_bytes() const {
    return context_.box_counters.control_wire_bytes - control_at_completion_bytes_;
  }
  /// After close_account().
  const Sent& sent() const { return *sent_; }
  const NicRtl& rtl() const { return rtl_; }

 private:
  /// Builds a box and owns it.
  template <typename T, typename... Args>
  T& add(const char* name, Args&&... args) {
    auto box = std::make_unique<T>(name, std::forward<Args>(args)...);
    T& added = *box;
    owned_.push_back(std::move(box));
    return added;
  }

  const NicContext& context_;
  NicRtl rtl_;
  std::unique_ptr<PcieDma> pcie_;
  std::unique_ptr<IdleCauses> idle_causes_;
  std::uint64_t control_at_completion_bytes_ = 0;
  std::unique_ptr<OverrunCauses> overrun_causes_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::unique_ptr<Box>> owned_;  ///< the other boxes
  // Of these, those that somebody outside speaks to.
  Doorbell* doorbell_ = nullptr;
  SprayScheduler* spray_scheduler_ = nullptr;
  ControlQueue* control_queue_ = nullptr;
  Completion* completion_ = nullptr;
  SackProcessor* sack_processor_ = nullptr;
  ProbeEngine* probe_engine_ = nullptr;
  std::vector<Box*> boxes_;          ///< all, in the order of the picture
  std::optional<Sent> sent_before_;  ///< the account: answers to peers
  std::optional<Sent> sent_;
};

}  // namespace mrc::timing

namespace mrc {
using timing::Nic;
}  // namespace mrc
