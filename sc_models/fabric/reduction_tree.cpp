#include "fabric/reduction_tree.h"

#include <map>

namespace mrc {
namespace {

/// The links of the switches of one tier to the parents that `up_of` chooses; these switches are the next tier.
template <typename UpOf>
std::map<std::uint32_t, ReductionTreeSwitch> connect_up(const Topology& topology,
                                                        std::map<std::uint32_t, ReductionTreeSwitch>& lower,
                                                        std::vector<ReductionTreeSwitch>& done, const UpOf& up_of) {
  std::map<std::uint32_t, ReductionTreeSwitch> upper;
  for (auto& [at, child] : lower) {
    child.up = up_of(topology.switches()[at]);
    const std::uint32_t parent = topology.links()[child.up].to;
    ReductionTreeSwitch& above = upper[parent];
    above.at = parent;
    above.from_children.push_back(child.up);
    above.to_children.push_back(topology.other_way(child.up));
    done.push_back(std::move(child));
  }
  return upper;
}

}  // namespace

std::vector<ReductionTreeSwitch> make_reduction_tree(const Topology& topology, const std::vector<NodeId>& nics,
                                                     std::uint32_t plane, std::uint32_t number) {
  std::map<std::uint32_t, ReductionTreeSwitch> tier;
  for (const NodeId node : nics) {
    const std::uint32_t link = topology.uplink_of(node, plane);
    ReductionTreeSwitch& t0 = tier[topology.links()[link].to];
    t0.at = topology.links()[link].to;
    t0.from_children.push_back(link);
    t0.to_children.push_back(topology.downlink_to(node, plane));
  }
  std::vector<ReductionTreeSwitch> tree;
  // From a T0 to the T1 of one number, whatever its pod; T1s of one number have their T2s in common.
  const auto turn = [&](const SwitchInfo& here) { return here.up[number % here.up.size()]; };
  while (tier.size() > 1) tier = connect_up(topology, tier, tree, turn);
  tree.push_back(std::move(tier.begin()->second));
  return tree;
}

}  // namespace mrc
