// All buffers together: the sets of sizes that give the most for their SRAM.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/sizer.h"

namespace mrc {

/// A set of sizes, over all seeds; of several scenarios the worst figures.
struct JointPoint {
  Settings sizes;
  std::uint64_t sram_bits = 0;  ///< of the node under test, and of each other node of which a buffer is sized
  double goodput_gbps = 0;
  double message_time_p99_us = 0;
  double score = 0;
  bool holds = false;
  bool front = false;              ///< no other point has less SRAM, more goodput and a shorter p99
  std::uint32_t unseen_seeds = 0;  ///< of the set that was confirmed: seeds that the search did not use
  std::uint32_t unseen_held = 0;   ///< on how many of these it held, each judged by itself
  std::vector<std::int64_t> runs;
};

class JointSizing {
 public:
  /// `single`: each buffer sized with all others as the scenario has them; those without an answer are not changed.
  JointSizing(Campaign& campaign, SizingScenarios scenarios, StudyDatabase& database,
              const std::vector<SizingResult>& single);

  /// Starts with the single answers at several levels, enlarges them where that gains most per bit until the objective
  /// holds, then reduces them while it holds. What suits the few seeds of a search by chance does not hold on others:
  /// the set is enlarged until it holds on each of 40 further seeds, then a little until it holds on each of a block of
  /// fresh ones, and is tried on 20 that nothing was chosen by. Returns every set that was tried, the smallest SRAM
  /// first.
  std::vector<JointPoint> solve();
  /// The confirmed set; without one, that with the least SRAM that holds; null if none does.
  static const JointPoint* best(const std::vector<JointPoint>& points);

 private:
  using Sizes = std::vector<std::int64_t>;  ///< in the order of `single_`

  std::uint64_t bits_of_other_nodes(const Settings& sizes) const;
  JointPoint point_of(std::span<const RunRecord> runs);
  std::vector<JointPoint> evaluate(const std::vector<Sizes>& sets);
  Sizes at_share(double share) const;
  std::int64_t next_larger(std::size_t buffer, std::int64_t value) const;
  std::int64_t next_smaller(std::size_t buffer, std::int64_t value) const;
  Sizes grow(Sizes sizes);
  Sizes shrink(Sizes sizes);
  Settings settings_of(const Sizes& sizes) const;
  Sizes all_larger(const Sizes& sizes) const;
  /// How many of `seeds` seeds these sizes hold on; the first is the scenario's own plus `offset`.
  std::uint32_t held_on(const Sizes& sizes, std::uint64_t offset, std::uint32_t seeds);
  Sizes hold_on_fresh_seeds(Sizes sizes, std::uint64_t& next_seed);
  void confirm(Sizes sizes);
  void mark_front();

  Campaign& campaign_;
  SizingScenarios scenarios_;
  StudyDatabase& database_;
  std::vector<SizingResult> single_;
  std::vector<std::string> keys_;  ///< of single_
  std::vector<RunRecord> reference_;
  Sizes unlimited_;
  std::map<Sizes, JointPoint> points_;
};

}  // namespace mrc
