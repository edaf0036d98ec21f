// Runs of the two NICs of a default scenario.
#pragma once

#include <utility>

#include "simulation/simulation.h"

namespace mrc {

/// `count` WRITEs of `bytes` from rank 0 to rank 1; with `immediate` rank 1 waits for each.
inline Workload writes(std::uint32_t count, std::uint64_t bytes, bool immediate = false) {
  Workload workload;
  workload.ranks = 2;
  workload.source = "test";
  for (std::uint32_t i = 0; i < count; ++i) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.peer = 1;
    node.bytes = bytes;
    node.origin = i;
    workload.nodes.push_back(node);
  }
  for (std::uint32_t i = 0; immediate && i < count; ++i) {
    WorkNode node;
    node.kind = WorkKind::receive;
    node.rank = 1;
    node.peer = 0;
    node.bytes = bytes;
    node.origin = count + i;
    node.match = i;
    workload.nodes[i].match = count + i;
    workload.nodes.push_back(node);
  }
  return workload;
}

inline RunResult run(const ScenarioConfig& scenario, const Workload& workload, SimulationOptions options = {}) {
  Simulation simulation(scenario, workload, {0, 1}, std::move(options));
  const std::atomic<bool> interrupted{false};
  return simulation.run(interrupted);
}

inline ScenarioConfig pair() {
  ScenarioConfig scenario;
  scenario.name = "test";
  return scenario;
}

}  // namespace mrc
