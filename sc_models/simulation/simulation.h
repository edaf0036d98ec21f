// A scenario and a workload made into nodes and a fabric, run to its end, and summed up. One per process: the SystemC
// kernel cannot be built twice.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "host/workload.h"
#include "parameters/config.h"
#include "results/run_result.h"
#include "simulation/options.h"

namespace mrc {

struct Model;

class Simulation {
 public:
  /// Builds the model; `scenario` and `workload` outlive it. `nics_of_ranks` are the nodes of rank
  /// 0, of rank 1 …, traffic.nics_per_rank of each; throws std::invalid_argument where one rank's differ in fidelity.
  Simulation(const ScenarioConfig& scenario, const Workload& workload, const std::vector<NodeId>& nics_of_ranks,
             SimulationOptions options);
  ~Simulation();

  /// Runs until all work is done, nothing moves any more, the time is over, memory differs, RTL differs, or
  /// `interrupted`. On several ranks the result is rank 0's, the others have an empty one.
  RunResult run(const std::atomic<bool>& interrupted);

 private:
  std::unique_ptr<Model> model_;
};

}  // namespace mrc
