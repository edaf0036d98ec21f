#include <memory>
#include <utility>

#include "cosim/joined_rtl.h"
#include "cosim/rtl_block.h"
#include "cosim/spray_scheduler/ports.h"
#include "cosim/spray_scheduler/rtl.h"

namespace mrc {
namespace {

void add_spray_scheduler(const RtlSelection& selection, const ScenarioConfig& scenario,
                         const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  const NicConfig& nic = scenario.node(selection.node).nic;
  if (nic.spray_scheduler.order_buffers != 2) {
    throw std::invalid_argument("nic.spray_scheduler.order_buffers = 1: RTL of spray_scheduler is built for 2");
  }
  if (!selection.joined.empty()) {
    // The block is made before the tables are known.
    const auto engine = std::make_shared<std::unique_ptr<SpraySchedulerEngine>>(
        std::move(nic_tx_engines(selection, scenario, rtl).spray_scheduler));
    check_spray_sizes({1, scenario.protocol.ev_count, nic.ports}, (*engine)->sizes());
    rtl.spray_scheduler =
        std::make_unique<SpraySchedulerRtlPath>(selection.mode, selection.timing, [engine](const SpraySizes& sizes) {
          check_spray_sizes(sizes, (*engine)->sizes());
          return std::move(*engine);
        });
    return;
  }
  const auto make = load_rtl<decltype(make_spray_scheduler_rtl)>(RtlModuleKind::rtl, "spray_scheduler");
  // How many tables there are is known when the QPs are; the rest is checked now.
  const RtlContract contract = rtl_contract(RtlModuleKind::rtl, "spray_scheduler");
  make({1, scenario.protocol.ev_count, nic.ports}, {}, contract);
  rtl.spray_scheduler = std::make_unique<SpraySchedulerRtlPath>(
      selection.mode, selection.timing,
      [make, recorder, contract](const SpraySizes& sizes) { return make(sizes, recorder, contract); });
}

}  // namespace

RtlBlock spray_scheduler_block() {
  return {"spray_scheduler",
          add_spray_scheduler,
          {// Its answer register, the search that goes on behind it, and the packet whose row is read.
           {.stages = 3,
            .pipeline = [](const NodeConfig& node) { return cycles_of(node.nic.spray_scheduler.pipeline); },
            .in_port = spray_scheduler_ports::Sel::kPort,
            .out_port = spray_scheduler_ports::Rsp::kPort,
            .latency_parameter = "nic.spray_scheduler.latency_cycles",
            .interval_parameter = "nic.spray_scheduler.initiation_interval_cycles"}}};
}

}  // namespace mrc
