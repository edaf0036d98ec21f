// Ends a run as soon as its steady goodput is known to the interval that is asked for (run.stop_within_percent): the
// rate at which the node under test sends payload for the first time, without the start of the run and without its end,
// when the last packets are waited for.
#pragma once

#include <cstdint>
#include <vector>

#include "results/run_result.h"
#include "simulation/model.h"

namespace mrc {

class EarlyStop {
 public:
  /// The model is built; `model` outlives it.
  explicit EarlyStop(const Model& model);

  /// At the end of each step of the run. True where the goodput is known.
  bool look(TimePs now);
  /// When the run has ended, early or not. Zeros where no interval is asked for.
  GoodputForecast finish(TimePs now);

 private:
  /// What the node has sent for the first time until then.
  struct Point {
    double ps = 0;
    double bytes = 0;
  };

  void add_point(TimePs now);
  double bytes_at(double ps) const;
  /// From the points so far; false where batches are too short for their scatter to say anything.
  bool estimate(GoodputForecast& steady) const;
  void halve();

  const Model& model_;
  const SimulationNode* node_ = nullptr;  ///< null: no interval is asked for, or the node sends nothing
  double within_;                         ///< half of the interval, as a share of the goodput
  double offered_ = 0;                    ///< payload bytes that the node will have sent
  std::vector<Point> points_;             ///< in order of time, until all is sent
  double next_look_ps_ = 0;
};

}  // namespace mrc
