// What makes a scenario faster, found by runs: each relief singly, then what helps beside the best of them, because a
// second cause is hidden behind the first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "study/campaign.h"
#include "study/objective.h"
#include "study/relief.h"
#include "study/run_planner.h"
#include "study/statistics.h"
#include "study/study_database.h"

namespace mrc {

/// One change of a pair, without the other.
struct SingleChange {
  Relief relief;
  bool completes = false;  ///< false: the scenario's rules refuse it, or a run of it does not complete
  Interval gain;           ///< as of the pair
};

/// One or two reliefs, and what a run with them does.
struct Remedy {
  std::vector<Relief> reliefs;
  std::vector<Relief> smallest;     ///< the same keys, with the smallest sizes that keep 99 % of the gain; may be empty
  Interval metric;                  ///< over the seeds
  Interval gain;                    ///< against the scenario as it is, seed by seed; more is better
  std::string next_cause;           ///< first of its run's causes, besides framing
  std::vector<SingleChange> alone;  ///< of the first remedy, where it is a pair

  ReliefKind kind() const;
};

struct Diagnosis {
  Interval baseline;
  std::vector<std::pair<std::string, double>> causes;   ///< of the first seed: cause, and Gb/s or us
  bool causes_of_messages = false;                      ///< us, of the slowest percent; otherwise limits[]
  std::vector<Remedy> remedies;                         ///< best first; empty: nothing is worth changing
  std::size_t tried = 0;                                ///< settings
  std::vector<std::pair<Settings, std::int64_t>> runs;  ///< in the database: as it is, first, and with each remedy
};

/// A relief is worth to be named if it gains this share of the baseline.
inline constexpr double kLeastGain = 0.01;

class Diagnoser {
 public:
  /// `objective`: its metric counts, not its threshold.
  Diagnoser(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database, Objective objective,
            std::uint32_t seeds);

  /// Throws StudyError if the scenario as it is does not complete.
  Diagnosis diagnose();

 private:
  using Reliefs = std::vector<Relief>;
  struct Tried {
    Reliefs reliefs;
    std::int64_t run = 0;  ///< in the database; 0: refused, or not complete
    double gain = 0;
  };

  /// Runs what the scenario's rules allow and has not been run, with the first seed.
  std::vector<Tried> try_all(const std::vector<Reliefs>& wanted);
  std::vector<Relief> singles() const;
  /// singles(), and what relieves the first causes, whether a buffer was seen to be full or not.
  std::vector<Tried> try_singles();
  std::vector<Reliefs> pairs_beside(const std::vector<Tried>& singles);
  std::vector<std::string> first_reliefs(std::int64_t run) const;
  Remedy confirm(const Tried& tried, Diagnosis& diagnosis);
  void confirm_singly(Remedy& remedy, Diagnosis& diagnosis);
  void find_smallest(Remedy& remedy);
  double gain_of(double metric) const { return more_ ? metric - base_ : base_ - metric; }

  Campaign& campaign_;
  const RunPlanner& planner_;
  StudyDatabase& database_;
  Objective objective_;
  std::uint32_t seeds_;
  bool more_;
  double base_ = 0;
  std::int64_t base_run_ = 0;
  std::map<Settings, Tried> known_;
};

}  // namespace mrc
