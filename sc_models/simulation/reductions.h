// Reductions in switches: refused where something of the run does not have them, otherwise known to the fabric and to
// the nodes that have a part in them.
#pragma once

#include "results/run_result.h"
#include "simulation/model.h"

namespace mrc {

/// Does nothing for a workload without reductions. Throws std::invalid_argument with one line.
void build_reductions(Model& model);

void collect_reductions(RunResult& result, const Model& model, TimePs end);

}  // namespace mrc
