// The smallest value of a parameter that holds an objective.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "study/campaign.h"
#include "study/objective.h"
#include "study/statistics.h"

namespace mrc {

/// The parameter that `key` names; throws StudyError if it is not an integer with a range.
const Parameter& size_of_key(const std::string& key);

/// The largest value of `key` that the scenario's rules allow with `context`; `low` is allowed.
std::int64_t largest_allowed(const RunPlanner& planner, const Settings& context, const std::string& key,
                             std::int64_t low);

/// All other buffers, at all nodes, as large as the scenario's rules allow.
Settings unlimited_buffers(const RunPlanner& planner, const std::vector<std::string>& sized);

/// All scenarios that a size must hold in; not empty. They outlive the sizer.
using SizingScenarios = std::vector<const RunPlanner*>;

struct SizingRequest {
  std::string key;  ///< an integer parameter, or node.nicN.parameter
  Objectives objectives;
  std::uint32_t seeds = 3;
  Settings context;  ///< what else is set, in all runs
};

/// One value of the parameter, over all seeds; of several scenarios the figures are those of the worst.
struct SizingPoint {
  std::int64_t value = 0;
  Interval score;             ///< of the first objective, see Objective::score
  bool holds = false;         ///< the mean does, and the other objectives hold
  bool holds_surely = false;  ///< so does the worse end of the confidence interval
  bool holds_maybe = false;   ///< the better end does
  double goodput_gbps = 0;    ///< means over the seeds
  double message_time_p99_us = 0;
  double simulated_time_us = 0;
  std::uint32_t complete = 0;     ///< runs that are
  std::uint64_t sram_bits = 0;    ///< all structures of the NIC that has the buffer
  std::uint64_t buffer_bits = 0;  ///< of those that depend on this parameter
  std::string scenario;           ///< the worst
  std::string cause;  ///< what grew most of the objective's causes against the reference; or how the first run ended
  double cause_more = 0;  ///< by how much, mean over the seeds: Gb/s, or us with SizingResult::causes_of_messages
};

/// The runs of one scenario with the unlimited buffer.
struct SizingReference {
  std::string scenario;
  double goodput_gbps = 0;  ///< means over the seeds
  double message_time_p99_us = 0;
  std::map<std::string, double> amounts;               ///< by cause, in Gb/s or us
  std::vector<std::pair<std::string, double>> causes;  ///< of these, without framing; the largest first
};

struct SizingResult {
  SizingRequest request;
  std::int64_t lowest = 0;     ///< values that the scenario's rules allow
  std::int64_t unlimited = 0;  ///< the largest, which is the reference
  SizingPoint reference;
  std::vector<SizingReference> references;  ///< of each scenario
  std::map<std::int64_t, SizingPoint> curve;
  bool scanned = false;             ///< the curve is not monotone: from the answer on all values that were tried hold
  bool causes_of_messages = false;  ///< of the slowest percent, in us; otherwise limits[]
  std::string why_none;             ///< the reason, if no size holds
  std::optional<std::int64_t> answer;
  std::int64_t answer_low = 0;  ///< 95 % interval of the answer: where the better end of the score's interval begins to
  std::int64_t answer_high = 0;  ///< hold, and where the worse end does
  std::int64_t resolution = 1;   ///< distance of the answer to the next smaller value that was tried

  const SizingPoint* point() const { return answer ? &curve.at(*answer) : nullptr; }
  /// The interval over the seeds at the answer is wider than the distance from the target, and the sizes that are
  /// possible therefore lie far apart.
  bool noise_dominates() const;
};

class Sizer {
 public:
  Sizer(Campaign& campaign, SizingScenarios scenarios, StudyDatabase& database, SizingRequest request);

  /// A curve from the unlimited value down to far below the knee, then bisection; a scan where that contradicts itself.
  /// Throws StudyError for a key that is not a size.
  SizingResult size();
  /// Only the answer, found from `hint` on: cheap where it is the same or close.
  SizingResult size_near(std::int64_t hint);

  /// Points of the runs, by study and point number, for the database.
  const std::vector<std::pair<Settings, std::int64_t>>& runs() const { return runs_; }

 private:
  using Predicate = bool SizingPoint::*;

  bool prepare();
  bool allowed(std::int64_t value) const;
  std::int64_t smallest_allowed() const;
  std::vector<SizingPoint> evaluate_all(const std::vector<std::int64_t>& values);
  const SizingPoint& evaluate(std::int64_t value);
  SizingPoint point_of(std::int64_t value, std::span<const RunRecord> runs);
  void describe_references();
  std::map<std::string, std::uint64_t> bits_of(std::int64_t value, const RunRecord& run);
  void find_cause(SizingPoint& point, std::span<const RunRecord> runs, const SizingReference& reference);
  SizingPoint point_in(std::size_t scenario, std::int64_t value, std::span<const RunRecord> runs);
  std::int64_t plateau() const;
  void coarse_curve();
  std::int64_t bisect(Predicate holds);
  bool monotone() const;
  void scan();
  void conclude();
  Settings settings(std::int64_t value) const;

  Campaign& campaign_;
  SizingScenarios scenarios_;
  StudyDatabase& database_;
  const Parameter& parameter_;
  SizingResult result_;
  std::vector<RunRecord> reference_;  ///< scenario by scenario, as all runs of a value
  std::map<std::string, std::uint64_t> reference_sram_;
  std::set<std::string> sized_structures_;  ///< rows of sram[] that depend on the parameter
  std::vector<std::pair<Settings, std::int64_t>> runs_;
};

}  // namespace mrc
