// What the ports of the node under test waited for, by the critical path: at some points of the run the starts of all
// packets are recorded for some round trips, and the time in which ports were idle since the point before is attributed
// to the causes of that path.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/causal_trace.h"
#include "engine/critical_path.h"
#include "simulation/model.h"

namespace mrc {

class CriticalPaths {
 public:
  /// The model is built; `model` outlives it.
  explicit CriticalPaths(Model& model);

  /// At the end of a step of the series: `progress` 0 … 1 of the bytes offered.
  void look(double progress);
  /// When the node's account of idle time is closed. Time by cause, in picoseconds of one port.
  std::map<std::string, double> finish();

 private:
  void close_window();

  Model& model_;
  const SimulationNode* node_ = nullptr;  ///< null: the node under test has no boxes here
  bool records_ = false;
  CausalTrace trace_;
  double next_window_ = 0;                     ///< progress at which it begins
  std::map<std::string, TimePs> idle_so_far_;  ///< by the time-based account, when the last window was closed
  std::map<std::string, double> idle_ps_;
};

/// Parameters that relieve a cause of limits[] of `node`, as the registry has them; those of one node alone with its
/// prefix.
std::vector<std::string> relief_of(const Model& model, const SimulationNode& node, const std::string& cause);

}  // namespace mrc
