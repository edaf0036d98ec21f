// The RTL in or beside the boxes of one NIC. A block's path is null where SystemC is alone.
#pragma once

#include <memory>
#include <vector>

#include "engine/rtl_path.h"
#include "nic/control/ack_coalescer_rtl_path.h"
#include "nic/joined_engine.h"
#include "nic/rx/psn_tracker_rtl_path.h"
#include "nic/tx/qp_scheduler_rtl_path.h"
#include "nic/tx/retransmit_buffer_rtl_path.h"
#include "nic/tx/spray_scheduler_rtl_path.h"
#include "nic/tx/srv6_encap_rtl_path.h"
#include "pcie/pcie_dma_rtl_path.h"

namespace mrc {

struct NicRtl {
  std::unique_ptr<PcieDmaRtlPath> pcie_dma;
  std::unique_ptr<QpSchedulerRtlPath> qp_scheduler;
  std::unique_ptr<SpraySchedulerRtlPath> spray_scheduler;
  std::unique_ptr<RetransmitBufferRtlPath> retransmit_buffer;
  std::unique_ptr<Srv6EncapRtlPath> srv6_encap;
  std::unique_ptr<PsnTrackerRtlPath> psn_tracker;
  std::unique_ptr<AckCoalescerRtlPath> ack_coalescer;
  std::unique_ptr<NicRxEngines> nic_rx;  ///< while the paths are made, as the next; null: not joined
  std::unique_ptr<NicTxEngines> nic_tx;

  /// Those that are there, in the order of the data path.
  std::vector<const RtlPath*> paths() const {
    std::vector<const RtlPath*> all;
    for (const RtlPath* path : std::initializer_list<const RtlPath*>{
             pcie_dma.get(), qp_scheduler.get(), spray_scheduler.get(), retransmit_buffer.get(), srv6_encap.get(),
             psn_tracker.get(), ack_coalescer.get()}) {
      if (path != nullptr) all.push_back(path);
    }
    return all;
  }
  /// At the end of a run: compares the state of the blocks with ring 1.
  void compare_states(TimePs now) const {
    if (spray_scheduler) spray_scheduler->compare_state(now);
  }
};

}  // namespace mrc
