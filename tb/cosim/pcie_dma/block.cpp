#include "cosim/pcie_dma/ports.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/rtl_block.h"
#include "engine/clock_domain.h"

namespace mrc {
namespace {

void add_pcie_dma(const RtlSelection& selection, const ScenarioConfig& scenario, const cosim::TraceRecorder& recorder,
                  NicRtl& rtl) {
  const NodeConfig& node = scenario.node(selection.node);
  const auto make = load_rtl<decltype(make_pcie_dma_rtl)>(RtlModuleKind::rtl, "pcie_dma");
  rtl.pcie_dma = std::make_unique<PcieDmaRtlPath>(
      selection.mode, make(node, recorder, rtl_contract(RtlModuleKind::rtl, "pcie_dma")), selection.node,
      ClockDomain(node.nic.core_clock_ghz).period_ps(), selection.timing);
}

}  // namespace

RtlBlock pcie_dma_block() {
  return {"pcie_dma",
          add_pcie_dma,
          {{.stages = 2,
            .pipeline =
                [](const NodeConfig& node) {
                  return cosim::SystemcCycles{1, node.pcie.request_cycles};
                },
            .way = "read taken → its requests",
            .in_port = pcie_dma_ports::Rd::kPort,
            .out_port = pcie_dma_ports::Req::kPort,
            .latency_parameter = "pcie.request_cycles"},
           {.stages = kPcieDmaSizes.jobs,
            .pipeline =
                [](const NodeConfig& node) {
                  return cosim::SystemcCycles{1, node.pcie.report_cycles};
                },
            .way = "completion → report of its read",
            .in_port = pcie_dma_ports::Cpl::kPort,
            .out_port = pcie_dma_ports::Ordered::kPort,
            .latency_parameter = "pcie.report_cycles"},
           {.stages = 2,
            .pipeline =
                [](const NodeConfig& node) {
                  return cosim::SystemcCycles{1, node.pcie.write_cycles};
                },
            .way = "write taken → its TLPs",
            .in_port = pcie_dma_ports::Wr::kPort,
            .out_port = pcie_dma_ports::Tlp::kPort,
            .latency_parameter = "pcie.write_cycles"}}};
}

}  // namespace mrc
