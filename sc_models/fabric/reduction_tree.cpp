#include "fabric/reduction_tree.h"

#include <map>

namespace mrc {
namespace {

/// Connects the switches of one tier to their parents over uplink `way` of each; the parents are the next tier.
std::map<std::uint32_t, ReductionTreeSwitch> connect_up(const Topology& topology,
                                                        std::map<std::uint32_t, ReductionTreeSwitch>& lower,
                                                        std::vector<ReductionTreeSwitch>& done, std::uint32_t way) {
  std::map<std::uint32_t, ReductionTreeSwitch> upper;
  for (auto& [at, child] : lower) {
    child.up = topology.switches()[at].up[way];
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
  std::uint32_t rest = number;
  while (tier.size() > 1) {
    const auto ways = static_cast<std::uint32_t>(topology.switches()[tier.begin()->first].up.size());
    tier = connect_up(topology, tier, tree, rest % ways);
    rest /= ways;
  }
  tree.push_back(std::move(tier.begin()->second));
  return tree;
}

}  // namespace mrc
