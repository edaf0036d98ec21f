#include <fmt/format.h>

#include "cosim/qp_scheduler/ports.h"
#include "cosim/qp_scheduler/rtl.h"
#include "cosim/rtl_block.h"
#include "engine/clock_domain.h"

namespace mrc {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

void add_qp_scheduler(const RtlSelection& selection, const ScenarioConfig& scenario,
                      const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  const NicConfig& nic = scenario.node(selection.node).nic;
  require(nic.qp_scheduler.context_cache_entries == kQpSchedulerSizes.slots,
          fmt::format("nic.qp_scheduler.context_cache_entries = {}: RTL of qp_scheduler is built for {}",
                      nic.qp_scheduler.context_cache_entries, kQpSchedulerSizes.slots));
  const auto make = load_rtl<decltype(make_qp_scheduler_rtl)>(RtlModuleKind::rtl, "qp_scheduler");
  rtl.qp_scheduler = std::make_unique<QpSchedulerRtlPath>(selection.mode, selection.timing,
                                                          make(nic.qp_scheduler.quantum_bytes, recorder),
                                                          kQpSchedulerSizes, selection.node, nic.qp_scheduler.pipeline);
}

}  // namespace

RtlBlock qp_scheduler_block() {
  return {"qp_scheduler",
          add_qp_scheduler,
          // The RTL accepts a returned grant one cycle after it was taken, the box in the same cycle: the box holds one
          // answer fewer than there are QPs in circulation.
          {{.stages = kQpSchedulerCalibrated - 1,
            .pipeline = [](const NodeConfig& node) { return cycles_of(node.nic.qp_scheduler.pipeline); },
            .way = "grant given back → the QP's next",
            .in_port = qp_scheduler_ports::Back::kPort,
            .out_port = qp_scheduler_ports::Grant::kPort,
            .latency_parameter = "nic.qp_scheduler.latency_cycles",
            .interval_parameter = "nic.qp_scheduler.initiation_interval_cycles"}}};
}

}  // namespace mrc
