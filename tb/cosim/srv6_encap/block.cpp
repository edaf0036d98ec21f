#include <utility>

#include "cosim/joined_rtl.h"
#include "cosim/rtl_block.h"
#include "cosim/srv6_encap/rtl.h"

namespace mrc {
namespace {

void add_srv6_encap(const RtlSelection& selection, const ScenarioConfig& scenario, const cosim::TraceRecorder& recorder,
                    NicRtl& rtl) {
  if (!selection.joined.empty()) {
    rtl.srv6_encap = std::make_unique<Srv6EncapRtlPath>(selection.mode, selection.timing,
                                                        std::move(nic_tx_engines(selection, scenario, rtl).srv6_encap));
    return;
  }
  const auto make = load_rtl<decltype(make_srv6_encap_rtl)>(RtlModuleKind::rtl, "srv6_encap");
  rtl.srv6_encap = std::make_unique<Srv6EncapRtlPath>(selection.mode, selection.timing,
                                                      make(scenario.node(selection.node).nic.datapath_bits, recorder));
}

}  // namespace

RtlBlock srv6_encap_block() {
  return {"srv6_encap",
          add_srv6_encap,
          {// A transfer is a beat.
           {.stages = 2,
            .pipeline = [](const NodeConfig& node) { return cycles_of(node.nic.srv6_encap.pipeline); },
            .latency_parameter = "nic.srv6_encap.latency_cycles",
            .interval_parameter = "nic.srv6_encap.initiation_interval_cycles"}}};
}

}  // namespace mrc
