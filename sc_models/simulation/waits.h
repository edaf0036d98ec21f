// What a run that makes no progress waits for.
#pragma once

#include <string>
#include <vector>

#include "simulation/model.h"

namespace mrc {

/// Of a node of this rank, what goes to the others: a few lines each.
std::vector<std::string> qp_waits(const SimulationNode& node);
std::vector<std::string> work_waits(const SimulationNode& node);
/// Of all nodes, those of other ranks included.
std::vector<std::string> describe_stall(const Model& model);

}  // namespace mrc
