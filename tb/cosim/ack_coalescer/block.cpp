#include <utility>

#include "cosim/ack_coalescer/rtl.h"
#include "cosim/joined_rtl.h"
#include "cosim/rtl_block.h"

namespace mrc {
namespace {

void add_ack_coalescer(const RtlSelection& selection, const ScenarioConfig& scenario,
                       const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  if (!selection.joined.empty()) {
    rtl.ack_coalescer = std::make_unique<AckCoalescerRtlPath>(
        selection.mode, selection.timing, std::move(nic_rx_engines(selection, scenario, rtl).ack_coalescer));
    return;
  }
  const ProtocolConfig& protocol = scenario.protocol;
  const auto make = load_rtl<decltype(make_ack_coalescer_rtl)>(RtlModuleKind::rtl, "ack_coalescer");
  rtl.ack_coalescer =
      std::make_unique<AckCoalescerRtlPath>(selection.mode, selection.timing,
                                            make(protocol.sack_threshold_bytes, protocol.sack_min_add_bytes, recorder,
                                                 rtl_contract(RtlModuleKind::rtl, "ack_coalescer")));
}

}  // namespace

RtlBlock ack_coalescer_block() {
  return {"ack_coalescer",
          add_ack_coalescer,
          {// The box's latency is that of the trigger and of reading the SACK's contents out of psn_tracker.
           {.stages = 2,
            .pipeline =
                [](const NodeConfig& node) {
                  const cosim::SystemcCycles box = cycles_of(node.nic.ack_coalescer.pipeline);
                  return cosim::SystemcCycles{box.occupied, box.latency - node.nic.psn_tracker.pipeline.latency_cycles};
                },
            .latency_parameter = "nic.ack_coalescer.latency_cycles",
            .interval_parameter = "nic.ack_coalescer.initiation_interval_cycles"}}};
}

}  // namespace mrc
