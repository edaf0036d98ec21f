// What the ports of the node under test waited for, by the critical path: at some points of the run the starts of all
// packets are recorded for some round trips, and the time in which ports were idle since the point before is attributed
// to the causes of that path.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/causal_trace.h"
#include "engine/cause.h"
#include "engine/critical_path.h"
#include "simulation/model.h"

namespace mrc {

class CriticalPaths {
 public:
  /// Of messages: the ports sent what was ahead; and nothing was waited for.
  static constexpr const char* kLine = "port.line";
  static constexpr const char* kWay = "latency";

  /// The model is built; `model` outlives it.
  explicit CriticalPaths(Model& model);

  /// At the end of a step of the series: `progress` 0 … 1 of the bytes offered.
  void look(double progress);
  /// Between two steps of the series this time was skipped, in which ports would have been idle for so long.
  void skip(TimePs time, const PerCause<TimePs>& idle_ps);
  /// With run.message_causes: what the slowest percent of the messages of the node under test waited for, in
  /// picoseconds by cause, the mean of those that are known. Before finish().
  std::map<std::string, double> of_slowest_messages();
  /// When the node's account of idle time is closed. Time by cause, in picoseconds of one port.
  std::map<std::string, double> finish();

 private:
  /// What is recorded, where anything is: the node under test has boxes, and all nodes are in this process.
  struct Recording {
    Recording(std::uint32_t nodes, std::uint32_t links, std::size_t most_records)
        : trace(most_records), path(nodes, links), idle_ps(path.pools()) {}
    CausalTrace trace;
    CriticalPath path;
    std::vector<double> idle_ps;  ///< by pool
  };

  void record();
  void close_window();
  /// How much of `idle_ps` of all ports since the last window was closed the path of this one accounts for, 0 to 1.
  double share_by_path(double idle_ps) const;
  /// The time-based account, with what was skipped.
  PerCause<TimePs> idle() const;
  /// All starts before it are in the trace, whatever the order in which nodes recorded theirs; kNever for all.
  TimePs complete_until();
  /// Of all ports of the node under test together, for a packet of the mean size of those sent so far.
  double packet_ps() const;
  /// Idle time whose cause is known when it passes, whatever packets wait for.
  bool of_messages() const;
  bool is_phase(std::size_t cause) const;
  std::string name_of(std::size_t pool) const;

  Model& model_;
  const SimulationNode* node_ = nullptr;      ///< null: the node under test has no boxes here
  std::vector<const SimulationNode*> nodes_;  ///< by their numbers in the trace
  std::uint32_t number_ = 0;                  ///< of the node under test
  std::unique_ptr<Recording> recording_;
  std::vector<bool> phases_;                    ///< by cause of the node under test
  std::size_t window_records_;                  ///< of the next window
  std::vector<std::size_t> starts_in_quantum_;  ///< of a window; kept for its memory
  double between_windows_ = 1;                  ///< in progress
  std::uint32_t windows_ = 0;                   ///< that were walked
  TimePs closed_at_ = 0;                        ///< when the last one was closed
  TimePs skipped_since_ = 0;                    ///< the time of the run is by so much longer
  PerCause<TimePs> skipped_idle_{};             ///< not in the node's account
  double next_window_ = 0;                      ///< progress at which it begins
  PerCause<TimePs> idle_so_far_{};              ///< by the time-based account, when the last window was closed
  PerCause<double> by_time_alone_{};            ///< what no path accounts for
};

/// Parameters that relieve a cause of limits[] of `node`, as the registry has them; those of one node alone with its
/// prefix.
std::vector<std::string> relief_of(const Model& model, const SimulationNode& node, const std::string& cause);

}  // namespace mrc
