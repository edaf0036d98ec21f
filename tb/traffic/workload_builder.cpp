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
  workload_.nodes.push_back(node);
  return size() - 1;
}

void WorkloadBuilder::match(std::uint32_t send, std::uint32_t receive) {
  at(send).match = receive;
  at(receive).match = send;
}

void WorkloadBuilder::move_ends() {
  const std::size_t count = edges_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Edge edge = edges_[i];
    if (edge.on_start) continue;
    const auto [first, last] = ends_.equal_range(edge.dependency);
    for (auto it = first; it != last; ++it) edges_.push_back({it->second, edge.dependent, false});
  }
  ends_.clear();
}

Workload WorkloadBuilder::finish(std::uint32_t ranks) {
  move_ends();
  for (Edge& edge : edges_) edge.on_start = false;
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  std::uint32_t position = 0;
  for (std::uint32_t node = 0; node < size(); ++node) {
    at(node).first_dependent = position;
    for (; position < edges_.size() && edges_[position].dependency == node; ++position) {
      workload_.dependents.push_back(edges_[position].dependent);
      ++at(edges_[position].dependent).dependencies;
    }
    at(node).dependents = position - at(node).first_dependent;
  }
  edges_.clear();
  workload_.ranks = ranks;
  return std::move(workload_);
}

}  // namespace mrc
