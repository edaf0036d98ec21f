// The series of a run: what of the model is looked at each time a step of the series is over.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/occupancy.h"
#include "results/series.h"
#include "simulation/model.h"

namespace mrc {

class Sampler {
 public:
  /// `model` is complete and outlives the sampler.
  explicit Sampler(const Model& model);

  /// One row more, step_us() after the last.
  void sample();
  double step_us() const { return series_.step_us(); }
  Series& series() { return series_; }

 private:
  void add_goodput();
  void add_buffers();
  void add_ev_states();
  void add_queues();

  void sample_goodput();
  void sample_ev_states();
  void sample_queues();
  /// Of light endpoints only the node under test has a series.
  bool counts_ev_states(const SimulationNode& node) const;

  const Model& model_;
  Series series_;
  std::vector<const Occupancy*> buffers_;         ///< null: of a NIC of another rank
  std::vector<std::uint16_t> queue_row_of_link_;  ///< among the queues' rows; of switch ports
  std::uint32_t queue_rows_ = 0;
  std::vector<std::uint64_t> payload_bytes_;  ///< by plane, of the node under test, at the last sample
  std::vector<double> row_;                   ///< reused
};

/// What path tables tell goes into the fault log; empties their short queues of events.
void watch_evs(const Model& model);
/// At the end of the run: what the NICs did about faults as well.
void note_reactions(const Model& model);

}  // namespace mrc
