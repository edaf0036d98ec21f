// The result of a run: sums over the nodes, and what the node under test says of itself.
#pragma once

#include <string>
#include <vector>

#include "simulation/model.h"

namespace mrc {

/// When the last work was done; now, where it is not done.
TimePs end_of(const Model& model, RunStatus status);

/// Closes what records the run. `details`: why it ended so. The series is the caller's.
RunResult collect(Model& model, RunStatus status, std::vector<std::string> details);

/// Of one node, added to `result`; `end`: of the time that averages are taken over.
void collect_node(RunResult& result, const Model& model, const SimulationNode& node, TimePs end);
/// Goodput, limits and message times of the node under test.
void collect_under_test(RunResult& result, const Model& model, const SimulationNode& node, TimePs end);

}  // namespace mrc
