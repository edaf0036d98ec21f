#include <utility>

#include "cosim/joined_rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/rtl_block.h"

namespace mrc {
namespace {

void add_psn_tracker(const RtlSelection& selection, const ScenarioConfig& scenario,
                     const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  if (!selection.joined.empty()) {
    rtl.psn_tracker = std::make_unique<PsnTrackerRtlPath>(
        selection.mode, selection.timing, std::move(nic_rx_engines(selection, scenario, rtl).psn_tracker), true);
    return;
  }
  const PsnTrackerSizes sizes{kPsnTrackerRtl.slots, scenario.node(selection.node).nic.psn_tracker.bitmap_banks,
                              scenario.protocol.mpr_units};
  const PsnTrackerSettings settings{scenario.protocol.out_of_window, scenario.protocol.dynamic_mpr};
  const auto make = load_rtl<decltype(make_psn_tracker_rtl)>(RtlModuleKind::rtl, "psn_tracker");
  rtl.psn_tracker =
      std::make_unique<PsnTrackerRtlPath>(selection.mode, selection.timing, make(sizes, settings, recorder));
}

}  // namespace

RtlBlock psn_tracker_block() {
  return {"psn_tracker",
          add_psn_tracker,
          {{.stages = 6,
            .pipeline = [](const NodeConfig& node) { return cycles_of(node.nic.psn_tracker.pipeline); },
            .latency_parameter = "nic.psn_tracker.latency_cycles",
            .interval_parameter = "nic.psn_tracker.initiation_interval_cycles"}}};
}

}  // namespace mrc
