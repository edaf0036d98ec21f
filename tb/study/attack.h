// Looks inside an envelope for cases in which sized buffers miss their objective, reduces each case to what it needs,
// enlarges the buffers that heal it, and goes on with the new sizes (docs/attack.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "study/campaign.h"
#include "study/case_search.h"
#include "study/envelope.h"
#include "study/objective.h"
#include "study/run_planner.h"
#include "study/settings_file.h"
#include "study/study_database.h"

namespace mrc {

/// How long an attack lasts: wall time or runs; the other one is 0.
struct AttackBudget {
  double seconds = 0;
  std::size_t runs = 0;
};

/// Reads "30m", "90s", "2h" or "400runs". Throws StudyError.
AttackBudget parse_budget(const std::string& text);

struct AttackRequest {
  BufferSizes sizes;
  Objective objective;
  std::uint32_t seeds = 1;  ///< runs per case; the mean counts
  AttackBudget budget;
  std::size_t most = 0;  ///< counterexamples after which it stops; 0: no limit
  bool guided = true;    ///< false: every case at random, for comparison
};

/// A point with the runs of it: with the sizes, and with all sized buffers unlimited.
struct TriedCase {
  AttackPoint at;
  double score = 0;            ///< see Objective::score; mean over the seeds
  double reference_score = 0;  ///< of the unlimited runs
  /// Share of the loss that the objective allows: above 1 the sizes are broken. 0 where the case cannot judge them.
  double loss = 0;
  double hint = 0;      ///< see CaseHint::danger
  bool judged = false;  ///< the unlimited runs are complete and meet the objective
  bool broken = false;
  std::vector<double> occupancy{};  ///< of each sized buffer, 0 … 1
  std::int64_t sram_bits = 0;       ///< of the NIC with the sizes
  std::size_t after_runs = 0;       ///< when it was known
};

/// What the run with the sizes alone says about a case.
struct CaseHint {
  std::vector<double> occupancy;  ///< of each sized buffer, 0 … 1
  double charged = 0;             ///< what `limits` attributes to the sized buffers, as a share of the loss allowed
  bool complete = false;

  /// How close to breaking, by what is more than in the usual case.
  double danger(const CaseHint& usual) const;
};

struct GrownBuffer {
  std::string key;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

struct Counterexample {
  TriedCase found;    ///< the worst of its batch
  TriedCase reduced;  ///< as few and as small differences from the usual as still cost half as much
  BufferSizes sizes;  ///< that it broke
  std::vector<GrownBuffer> grown;
  double healed_score = 0;     ///< of the reduced case with the grown buffers
  std::size_t after_runs = 0;  ///< until the first broken case of its batch was known
};

/// What breaks a buffer that is one step smaller than the final sizes.
struct SmallerSize {
  std::string key;
  std::int64_t size = 0;
  std::int64_t smaller = 0;          ///< 0: the rules allow no smaller one
  std::optional<TriedCase> breaker;  ///< none was found
};

struct AttackResult {
  BufferSizes sizes;  ///< after all enlargements
  std::vector<Counterexample> counterexamples;
  std::vector<SmallerSize> smaller;
  std::size_t runs = 0;
  std::size_t cases = 0;              ///< points of the search that were compared with unlimited buffers
  std::size_t not_judged = 0;         ///< of them: the unlimited run missed the objective itself, or did not end
  std::optional<TriedCase> closest;   ///< of the cases that the final sizes held, the one with the largest loss
  std::size_t held_since_growth = 0;  ///< cases that held after the last enlargement
  bool exhausted = false;             ///< no further case was found in the envelope before the budget was used
};

class Attacker {
 public:
  /// What an earlier process had done of a budget of time: it is repeated from the database, and the time counts.
  struct Earlier {
    std::size_t batches = 0;
    double seconds = 0;
  };
  using OnBatch = std::function<void(const Earlier&)>;

  Attacker(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database, const Envelope& envelope,
           AttackRequest request);

  /// `on_batch` is told what is done after each batch. Throws StudyError where the sizes cannot be attacked.
  AttackResult attack(const Earlier& earlier, const OnBatch& on_batch);

  /// Share of the budget that is used.
  double progress() const;
  std::size_t counterexamples() const { return result_.counterexamples.size(); }
  /// Every run that was looked at, with its settings, in order.
  const std::vector<std::pair<Settings, std::int64_t>>& runs() const { return all_runs_; }
  /// Settings and trace of a point with these sizes.
  RunSpec spec(const AttackPoint& point, const BufferSizes& sizes, std::uint32_t nth_seed) const;

 private:
  struct Wanted {
    AttackPoint at;
    BufferSizes sizes;
  };

  std::vector<TriedCase> next_cases();
  std::vector<TriedCase> compare_most_dangerous(const std::vector<AttackPoint>& points);
  std::vector<CaseHint> look_at(const std::vector<AttackPoint>& points);
  CaseHint hint_of(const RunRecord& run) const;
  void count(const RunSpec& spec, const RunRecord& record);
  std::vector<TriedCase> evaluate(const std::vector<Wanted>& wanted);
  std::vector<TriedCase> evaluate(const std::vector<AttackPoint>& points, const BufferSizes& sizes);
  TriedCase judge(const Wanted& wanted, const std::vector<RunRecord>& runs) const;
  static std::vector<KnownPoint> known(const std::vector<TriedCase>& tried);
  bool allowed(const AttackPoint& point) const;

  void find_unlimited();
  void defend(const TriedCase& found, std::size_t after_runs);
  static std::size_t first_known(const std::vector<TriedCase>& tried);
  TriedCase reduced(const TriedCase& found);
  bool back_to_usual(TriedCase& tried, double enough);
  void half_way(TriedCase& tried, double enough);
  std::vector<GrownBuffer> grow(const std::vector<AttackPoint>& points);
  bool holds(const std::vector<AttackPoint>& points, const BufferSizes& sizes);
  double worst_loss(const std::vector<TriedCase>& tried) const;
  std::size_t best_relief(const std::vector<AttackPoint>& points, const BufferSizes& sizes,
                          const std::vector<std::size_t>& grown);
  void minimize(const std::vector<AttackPoint>& points, BufferSizes& sizes, std::size_t buffer);
  std::vector<AttackPoint> worth_another_run(const std::vector<TriedCase>& tried) const;
  void remember(const std::vector<TriedCase>& tried);
  void try_smaller_sizes();
  bool spent() const;
  bool runs_spent() const;
  bool enough_found() const;
  double seconds() const;

  Campaign& campaign_;
  const RunPlanner& planner_;
  StudyDatabase& database_;
  const Envelope& envelope_;
  AttackRequest request_;
  BufferSizes sizes_;      ///< now
  BufferSizes unlimited_;  ///< the registered maximum, or the largest value that the rules allow
  CaseSearch search_;
  AttackResult result_;
  std::vector<AttackPoint> not_compared_;  ///< looked at only
  CaseHint usual_;                         ///< the first that is looked at
  std::vector<std::pair<Settings, std::int64_t>> all_runs_;
  std::set<std::string> digests_;
  Earlier done_;
  Earlier earlier_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace mrc
