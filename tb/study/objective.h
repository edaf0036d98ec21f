// --hold: what a buffer's size must keep up.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parameters/config.h"
#include "study/study_database.h"

namespace mrc {

struct Objective {
  enum class Metric : unsigned char { goodput, p99, step, refusals, drops, nacks };

  Metric metric = Metric::goodput;
  double threshold = 0.99;  ///< a share of the reference, or an absolute value in Gb/s, us or occurrences
  bool relative = true;
  std::string text;  ///< as it was given

  /// More is better for goodput, less for all others.
  bool more_is_better() const { return metric == Metric::goodput; }
  /// Of occurrences, of which the worst run counts; of the others the mean does.
  bool is_count() const { return metric >= Metric::refusals; }
  /// Gb/s or us; of a run that is not complete the worst value there is. Not for counts.
  double metric_of(const RunRecord& run) const;
  /// What is compared with the threshold: the metric, or its share of the reference's.
  double score(const RunRecord& run, const RunRecord& reference) const;
  /// Occurrences in a run's result; refusals: of the buffers that `keys` size. Infinite without a result.
  double count(const std::string& result_json, std::span<const std::string> keys) const;
  bool holds(double score) const { return more_is_better() ? score >= threshold : score <= threshold; }
  /// 1 at the target, more where there is more than it asks for.
  double share_of_target(double score) const { return more_is_better() ? score / threshold : threshold / score; }
  const char* unit() const;
};

/// Reads "goodput>=99%" or "goodput>=700" (Gb/s); "p99<=110%" or "p99<=200" (us, message time); "step<=105%" or
/// "step<=5000" (us, until the last message is complete); "refusals=0" (of the sized buffers), "drops=0" and "nacks=0"
/// (packets of all nodes), or "<=" and a number. Throws StudyError.
Objective parse_objective(const std::string& text);

/// What must hold at once. The first has a curve; it is not a count.
struct Objectives {
  std::vector<Objective> all{Objective{}};

  const Objective& first() const { return all.front(); }
  std::string text() const;
  /// Whether all but the first hold for these runs, given with their references. `keys`: what is sized.
  bool others_hold(std::span<const RunRecord> runs, std::span<const RunRecord> references, StudyDatabase& database,
                   std::span<const std::string> keys) const;
};

/// Throws StudyError also where all are counts.
Objectives parse_objectives(const std::vector<std::string>& texts);

/// With run.stop_within_percent a run ends when its goodput is known. Throws StudyError with such a scenario; `asked`:
/// what is not known then, as the user has asked for it.
void require_whole_runs(const ScenarioConfig& scenario, const std::string& asked);
/// As above, where the objective is not goodput.
void require_known(const ScenarioConfig& scenario, const Objective& objective, const std::string& asked);

}  // namespace mrc
