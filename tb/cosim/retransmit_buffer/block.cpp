#include <utility>

#include "cosim/joined_rtl.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/rtl_block.h"
#include "engine/clock_domain.h"

namespace mrc {
namespace {

void add_retransmit_buffer(const RtlSelection& selection, const ScenarioConfig& scenario,
                           const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  const NicConfig& nic = scenario.node(selection.node).nic;
  const auto make_alone = [&] {
    const auto make = load_rtl<decltype(make_retransmit_buffer_rtl)>(RtlModuleKind::rtl, "retransmit_buffer");
    return make(scenario, selection.node, recorder);
  };
  rtl.retransmit_buffer = std::make_unique<RetransmitBufferRtlPath>(
      selection.mode, selection.timing,
      selection.joined.empty() ? make_alone() : std::move(nic_tx_engines(selection, scenario, rtl).retransmit_buffer),
      kRetransmitBufferSizes, selection.node, ClockDomain(nic.core_clock_ghz).period_ps(), nic);
}

}  // namespace

RtlBlock retransmit_buffer_block() {
  return {"retransmit_buffer",
          add_retransmit_buffer,
          {{.stages = 5,
            .pipeline = [](const NodeConfig& node) { return cycles_of(node.nic.retransmit_buffer.pipeline); },
            .latency_parameter = "nic.retransmit_buffer.latency_cycles",
            .interval_parameter = "nic.retransmit_buffer.initiation_interval_cycles"}}};
}

}  // namespace mrc
