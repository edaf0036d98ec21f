// What every workload that a reader accepts must be; a violation aborts.
#pragma once

#include <cstdlib>

#include "host/workload.h"

namespace mrc::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline void check_node(const Workload& workload, std::uint32_t index) {
  const WorkNode& node = workload.nodes[index];
  require(node.rank < workload.ranks);
  require(std::uint64_t{node.first_dependent} + node.dependents <= workload.dependents.size());
  if (node.kind == WorkKind::compute) return;
  if (node.kind == WorkKind::collective) {
    require(node.match < workload.collectives.size());
    const Collective& collective = workload.collectives[node.match];
    require(collective.group < workload.groups.size());
    const auto& ranks = workload.groups[collective.group].ranks;
    require(collective.root < ranks.size());
    for (const std::uint32_t rank : ranks) require(rank < workload.ranks);
    return;
  }
  require(node.bytes >= 1 && node.peer < workload.ranks && node.peer != node.rank);
  if (node.match == kNoWork) {
    require(node.kind == WorkKind::send);
    return;
  }
  require(node.match < workload.nodes.size());
  const WorkNode& other = workload.nodes[node.match];
  require(other.match == index && other.kind != node.kind);
  require(other.bytes == node.bytes && other.peer == node.rank && other.rank == node.peer);
}

inline void check_workload(const Workload& workload) {
  std::uint64_t dependencies = 0;
  for (std::uint32_t i = 0; i < workload.nodes.size(); ++i) {
    check_node(workload, i);
    dependencies += workload.nodes[i].dependencies;
  }
  require(dependencies == workload.dependents.size());
  for (const std::uint32_t dependent : workload.dependents) require(dependent < workload.nodes.size());
}

}  // namespace mrc::fuzz
