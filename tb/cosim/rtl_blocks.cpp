#include "cosim/rtl_blocks.h"

#include <array>
#include <stdexcept>

#include "cosim/ack_coalescer/rtl.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/rtl_modules.h"
#include "cosim/spray_scheduler/rtl.h"
#include "cosim/srv6_encap/rtl.h"
#include "engine/clock_domain.h"

namespace mrc {
namespace {

/// The block's function out of its module.
template <typename Function>
Function* load(const char* block) {
  return load_rtl<Function>(RtlModuleKind::rtl, block);
}

struct RtlBlock {
  const char* name;
  void (*add)(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);
};

void add_srv6_encap(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  rtl.srv6_encap = std::make_unique<Srv6EncapRtlPath>(
      selection.mode,
      load<decltype(make_srv6_encap_rtl)>("srv6_encap")(scenario.node(selection.node).nic.datapath_bits));
}

void add_pcie_dma(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  const NodeConfig& node = scenario.node(selection.node);
  rtl.pcie_dma = std::make_unique<PcieDmaRtlPath>(selection.mode, load<decltype(make_pcie_dma_rtl)>("pcie_dma")(node),
                                                  selection.node, ClockDomain(node.nic.core_clock_ghz).period_ps());
}

void add_spray_scheduler(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  if (scenario.node(selection.node).nic.spray_scheduler.order_buffers != 2) {
    throw std::invalid_argument("nic.spray_scheduler.order_buffers = 1: RTL of spray_scheduler is built for 2");
  }
  // How many tables there are is known when the QPs are.
  load<decltype(make_spray_scheduler_rtl)>("spray_scheduler")(
      {1, scenario.protocol.ev_count, scenario.node(selection.node).nic.ports});
  rtl.spray_scheduler = std::make_unique<SpraySchedulerRtlPath>(
      selection.mode, load<decltype(make_spray_scheduler_rtl)>("spray_scheduler"));
}

void add_psn_tracker(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  const PsnTrackerSizes sizes{kPsnTrackerRtl.qps, scenario.node(selection.node).nic.psn_tracker.bitmap_banks,
                              scenario.protocol.mpr_units};
  const PsnTrackerSettings settings{scenario.protocol.out_of_window, scenario.protocol.dynamic_mpr};
  rtl.psn_tracker = std::make_unique<PsnTrackerRtlPath>(
      selection.mode, sizes, load<decltype(make_psn_tracker_rtl)>("psn_tracker")(sizes, settings));
}

void add_ack_coalescer(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  const ProtocolConfig& protocol = scenario.protocol;
  rtl.ack_coalescer = std::make_unique<AckCoalescerRtlPath>(
      selection.mode, load<decltype(make_ack_coalescer_rtl)>("ack_coalescer")(protocol.sack_threshold_bytes,
                                                                              protocol.sack_min_add_bytes));
}

void add_retransmit_buffer(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  rtl.retransmit_buffer = std::make_unique<RetransmitBufferRtlPath>(
      selection.mode, load<decltype(make_retransmit_buffer_rtl)>("retransmit_buffer")(scenario, selection.node),
      kRetransmitBufferSizes, selection.node, ClockDomain(scenario.node(selection.node).nic.core_clock_ghz).period_ps(),
      scenario.node(selection.node).nic);
}

constexpr std::array kBlocks{RtlBlock{"pcie_dma", add_pcie_dma},
                             RtlBlock{"spray_scheduler", add_spray_scheduler},
                             RtlBlock{"retransmit_buffer", add_retransmit_buffer},
                             RtlBlock{"srv6_encap", add_srv6_encap},
                             RtlBlock{"psn_tracker", add_psn_tracker},
                             RtlBlock{"ack_coalescer", add_ack_coalescer}};

}  // namespace

std::vector<std::string> rtl_block_names() {
  std::vector<std::string> names;
  for (const RtlBlock& block : kBlocks) names.emplace_back(block.name);
  return names;
}

void add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  for (const RtlBlock& block : kBlocks) {
    if (selection.block == block.name) block.add(selection, scenario, rtl);
  }
}

}  // namespace mrc
