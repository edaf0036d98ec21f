#include "cosim/rtl_blocks.h"

#include <array>

#include "cosim/srv6_encap_rtl.h"

namespace mrc {
namespace {

struct RtlBlock {
  const char* name;
  void (*add)(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);
};

void add_srv6_encap(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  rtl.srv6_encap = std::make_unique<Srv6EncapRtlPath>(
      selection.mode, make_srv6_encap_rtl(scenario.node(selection.node).nic.datapath_bits));
}

constexpr std::array kBlocks{RtlBlock{"srv6_encap", add_srv6_encap}};

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
