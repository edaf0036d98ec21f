#include "traffic/workload_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {

void check_node_count(const std::string& place, std::uint64_t nodes) {
  if (nodes <= kMostWorkNodes) return;
  throw TraceError(place, fmt::format("makes {} nodes of work; allowed: at most {}", nodes, kMostWorkNodes));
}

std::uint32_t WorkloadBuilder::add(const WorkNode& node) {
  if (counts_only()) {
    const Collective* collective = node.kind == WorkKind::collective ? &workload_.collectives[node.match] : nullptr;
    totals_->add(node, collective);
    const bool lone = collective != nullptr && workload_.groups[collective->group].ranks.size() == 1;
    totals_->lone_collective_nodes += lone ? 1 : 0;
  } else {
    workload_.nodes.push_back(node);
  }
  return static_cast<std::uint32_t>(size() - 1);
}

void WorkloadBuilder::match(std::uint32_t send, std::uint32_t receive) {
  at(send).match = receive;
  at(receive).match = send;
}

std::uint32_t WorkloadBuilder::group(const std::vector<std::uint32_t>& ranks) {
  const auto [it, added] = groups_.emplace(ranks, static_cast<std::uint32_t>(workload_.groups.size()));
  if (added) workload_.groups.push_back({ranks});
  return it->second;
}

std::uint32_t WorkloadBuilder::collective(const Collective& collective) {
  workload_.collectives.push_back(collective);
  return static_cast<std::uint32_t>(workload_.collectives.size() - 1);
}

Workload WorkloadBuilder::finish(std::uint32_t ranks) {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  std::uint32_t position = 0;
  for (std::uint32_t node = 0; node < workload_.nodes.size(); ++node) {
    at(node).first_dependent = position;
    for (; position < edges_.size() && edges_[position].dependency == node; ++position) {
      workload_.dependents.push_back(edges_[position].dependent);
      ++at(edges_[position].dependent).dependencies;
    }
    at(node).dependents = position - at(node).first_dependent;
  }
  edges_.clear();
  groups_.clear();
  workload_.ranks = ranks;
  return std::move(workload_);
}

}  // namespace mrc
