#include "host/reduction_plan.h"

#include <map>
#include <utility>

namespace mrc {

ReductionPlan::ReductionPlan(const Workload& workload, const WorkPlacement& placement, std::uint64_t seed)
    : workload_(&workload), seed_(mix64(seed ^ name_key("reduction"))), of_node_(placement.of_node.size()) {
  // Jobs that share NICs have groups of their own, and do not wait for each other.
  std::map<std::pair<std::uint32_t, std::vector<NodeId>>, std::uint32_t> known;
  for (std::uint32_t i = 0; i < workload.reductions.size(); ++i) {
    const Reduction& reduction = workload.reductions[i];
    std::vector<NodeId> nics;
    for (const std::uint32_t rank : workload.groups[reduction.group].ranks)
      nics.push_back(placement.nics_of_ranks[placement.nic_index(rank, reduction.lane)]);
    const auto [it, added] =
        known.emplace(std::pair(reduction.group, nics), static_cast<std::uint32_t>(streams_.size()));
    if (added) streams_.push_back({.nics = std::move(nics), .reductions = {}, .sum_of_weights = 0});
    streams_[it->second].reductions.push_back(i);
    stream_of_.push_back(it->second);
  }
  for (std::uint32_t s = 0; s < streams_.size(); ++s) {
    for (const NodeId node : streams_[s].nics) {
      streams_[s].sum_of_weights += weight_of(node, s);
      of_node_[node].push_back(s);
    }
  }
}

}  // namespace mrc
