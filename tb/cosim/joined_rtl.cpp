#include "cosim/joined_rtl.h"

#include <algorithm>

#include "cosim/nic_rx/rtl.h"
#include "cosim/nic_tx/rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/rtl_modules.h"
#include "fabric/topology.h"

namespace mrc {
namespace {

bool is_built_for(const JoinedRtl& joined, const NodeConfig& node) {
  return std::string(joined.name) != "nic_tx" || node.nic.datapath_bits == kNicTxDatapathBits;
}

/// Its blocks are those that are selected.
bool has_the_blocks(const JoinedRtl& joined) {
  return is_users_rtl(joined.name) || std::ranges::none_of(joined.blocks, is_users_rtl);
}

}  // namespace

const std::vector<JoinedRtl>& joined_rtl() {
  static const std::vector<JoinedRtl> all{{"nic_tx", {"spray_scheduler", "retransmit_buffer", "srv6_encap"}},
                                          {"nic_rx", {"psn_tracker", "ack_coalescer"}}};
  return all;
}

void join_neighbors(std::vector<RtlSelection>& selections, const ScenarioConfig& scenario) {
  for (const JoinedRtl& joined : joined_rtl()) {
    if (!has_the_blocks(joined)) continue;
    for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
      std::vector<RtlSelection*> parts;
      for (RtlSelection& selection : selections) {
        if (selection.node != node || selection.timing != RtlTiming::pins) continue;
        if (std::ranges::find(joined.blocks, selection.block) != joined.blocks.end()) parts.push_back(&selection);
      }
      if (parts.size() != joined.blocks.size() || !is_built_for(joined, scenario.node(node))) continue;
      for (RtlSelection* part : parts) part->joined = joined.name;
    }
  }
}

NicRxEngines& nic_rx_engines(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  if (rtl.nic_rx != nullptr) return *rtl.nic_rx;
  const ProtocolConfig& protocol = scenario.protocol;
  const PsnTrackerSizes sizes{kPsnTrackerRtl.slots, scenario.node(selection.node).nic.psn_tracker.bitmap_banks,
                              protocol.mpr_units};
  const NicRxSettings settings{
      {protocol.out_of_window, protocol.dynamic_mpr}, protocol.sack_threshold_bytes, protocol.sack_min_add_bytes};
  const auto make = load_rtl<decltype(make_nic_rx_rtl)>(RtlModuleKind::rtl, "nic_rx");
  const RtlContract contract = rtl_contract(RtlModuleKind::rtl, "ack_coalescer");
  rtl.nic_rx = std::make_unique<NicRxEngines>(
      make(sizes, settings, static_cast<std::uint32_t>(contract.most_latency("evt", "sack", 2))));
  return *rtl.nic_rx;
}

NicTxEngines& nic_tx_engines(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  if (rtl.nic_tx != nullptr) return *rtl.nic_tx;
  const auto make = load_rtl<decltype(make_nic_tx_rtl)>(RtlModuleKind::rtl, "nic_tx");
  const auto uplink_of = [layout = scenario.protocol.ev_layout, uplinks = ev_uplinks(scenario)](Ev ev) {
    return layout.uplink_in(ev, uplinks);
  };
  const std::uint32_t beyond = cycles_beyond_interval(rtl_contract(RtlModuleKind::rtl, "spray_scheduler"));
  rtl.nic_tx = std::make_unique<NicTxEngines>(make(scenario, selection.node, uplink_of, beyond));
  return *rtl.nic_tx;
}

}  // namespace mrc
