// From a scenario to a model: which nodes there are, their QPs and memory, and what watches them.
#pragma once

#include <memory>
#include <vector>

#include "simulation/model.h"

namespace mrc {

/// As Simulation's constructor.
std::unique_ptr<Model> build_model(const ScenarioConfig& scenario, const Workload& workload,
                                   const std::vector<NodeId>& nics_of_ranks, SimulationOptions options);

}  // namespace mrc
