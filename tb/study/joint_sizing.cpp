#include "study/joint_sizing.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/buffers.h"

namespace mrc {
namespace {

constexpr int kMostSteps = 40;
/// Seeds far from those of the search: a set has to hold on each of the first, then, after small enlargements, on each
/// of a block of fresh ones, and is tried on the last.
constexpr std::uint64_t kFirstUnseen = 1000;
constexpr std::uint32_t kConfirming = 40;
constexpr std::uint32_t kFresh = 40;
constexpr int kMostBlocks = 8;
constexpr std::uint32_t kTried = 20;
/// Steps of the small enlargements.
constexpr std::int64_t kSmallStep = 32;

std::uint64_t sram_bits(const std::string& result_json) {
  const auto result = nlohmann::json::parse(result_json, nullptr, false);
  std::uint64_t bits = 0;
  if (!result.is_object()) return bits;
  for (const auto& row : result.at("sram")) bits += row.at("bits").get<std::uint64_t>();
  return bits;
}

}  // namespace

JointSizing::JointSizing(Campaign& campaign, SizingScenarios scenarios, StudyDatabase& database,
                         const std::vector<SizingResult>& single)
    : campaign_(campaign), scenarios_(std::move(scenarios)), database_(database) {
  for (const SizingResult& result : single) {
    if (!result.answer) continue;
    single_.push_back(result);
    keys_.push_back(result.request.key);
  }
}

Settings JointSizing::settings_of(const Sizes& sizes) const {
  Settings all = single_.front().request.context;
  for (std::size_t i = 0; i < sizes.size(); ++i) all.emplace_back(keys_[i], fmt::format("{}", sizes[i]));
  return all;
}

std::vector<JointPoint> JointSizing::evaluate(const std::vector<Sizes>& sets) {
  const SizingRequest& request = single_.front().request;
  std::vector<RunSpec> specs;
  std::vector<Settings> settings;
  for (const Sizes& sizes : sets) {
    Settings all = settings_of(sizes);
    for (const RunPlanner* planner : scenarios_) {
      for (RunSpec& spec : planner->specs(all, request.seeds)) specs.push_back(std::move(spec));
    }
    settings.push_back(std::move(all));
  }
  const std::vector<RunRecord> records = campaign_.run(specs);
  const std::size_t each = scenarios_.size() * request.seeds;
  std::vector<JointPoint> points;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::span<const RunRecord> runs(records.data() + k * each, each);
    if (reference_.empty()) reference_.assign(runs.begin(), runs.end());
    JointPoint point = point_of(runs);
    point.sizes = settings[k];
    point.sram_bits = sram_bits(database_.result_json(point.runs.front())) + bits_of_other_nodes(settings[k]);
    points_[sets[k]] = point;
    points.push_back(std::move(point));
  }
  return points;
}

JointPoint JointSizing::point_of(std::span<const RunRecord> runs) {
  const SizingRequest& request = single_.front().request;
  const Objective& objective = request.objectives.first();
  JointPoint point{.sizes = {}, .holds = true, .runs = {}};
  for (std::size_t i = 0; i < scenarios_.size(); ++i) {
    const std::span<const RunRecord> of_scenario = runs.subspan(i * request.seeds, request.seeds);
    const std::span<const RunRecord> references(reference_.data() + i * request.seeds, request.seeds);
    double goodput = 0;
    double p99 = 0;
    double score = 0;
    bool complete = true;
    for (std::size_t seed = 0; seed < of_scenario.size(); ++seed) {
      const RunRecord& run = of_scenario[seed];
      complete = complete && run.complete();
      goodput += run.goodput_gbps / request.seeds;
      p99 += run.message_time_p99_us / request.seeds;
      score += objective.score(run, references[seed]) / request.seeds;
      point.runs.push_back(run.id);
    }
    const bool is_worse = objective.share_of_target(score) < objective.share_of_target(point.score);
    if (i == 0 || is_worse) point.score = score;
    point.goodput_gbps = i == 0 ? goodput : std::min(point.goodput_gbps, goodput);
    point.message_time_p99_us = std::max(point.message_time_p99_us, p99);
    point.holds = point.holds && complete && objective.holds(score) &&
                  request.objectives.others_hold(of_scenario, references, database_, keys_);
  }
  return point;
}

/// Results have the memories of the node under test; keys may name others.
std::uint64_t JointSizing::bits_of_other_nodes(const Settings& sizes) const {
  const ScenarioConfig scenario = scenarios_.front()->scenario(sizes);
  std::map<std::string_view, std::string_view> keys;
  for (const std::string& key : keys_) {
    if (!node_part(key).empty() && node_part(key) != scenario.run.node_under_test) keys[node_part(key)] = key;
  }
  std::uint64_t sum = 0;
  for (const auto& [node, key] : keys) {
    for (const auto& [structure, bits] : structure_bits(scenario, key)) sum += bits;
  }
  return sum;
}

/// Of each buffer the smallest size that keeps `share` of the objective by itself.
JointSizing::Sizes JointSizing::at_share(double share) const {
  Sizes sizes;
  for (const SizingResult& result : single_) {
    std::int64_t size = *result.answer;
    for (auto it = result.curve.find(size); it != result.curve.begin();) {
      --it;
      if (result.request.objectives.first().share_of_target(it->second.score.mean) < share) break;
      size = it->first;
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::int64_t JointSizing::next_larger(std::size_t buffer, std::int64_t value) const {
  return std::min(single_[buffer].unlimited, std::max(value + 1, value + value / 8));
}

std::int64_t JointSizing::next_smaller(std::size_t buffer, std::int64_t value) const {
  return std::max(single_[buffer].lowest, std::min(value - 1, value - value / 16));
}

/// Larger step by step, always where the score gains most for a bit; where no single step gains, all at once.
JointSizing::Sizes JointSizing::grow(Sizes sizes) {
  for (int step = 0; step < kMostSteps && !points_.at(sizes).holds; ++step) {
    std::vector<Sizes> candidates;
    Sizes all = sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      candidates.push_back(sizes);
      candidates.back()[i] = next_larger(i, sizes[i]);
      all[i] = candidates.back()[i];
    }
    candidates.push_back(all);
    const std::vector<JointPoint> tried = evaluate(candidates);
    const JointPoint now = points_.at(sizes);
    const bool more = single_.front().request.objectives.first().more_is_better();
    Sizes best = all;
    double best_gain = 0;
    for (std::size_t i = 0; i + 1 < candidates.size(); ++i) {
      const double gain = more ? tried[i].score - now.score : now.score - tried[i].score;
      const double bits = std::max(1.0, static_cast<double>(tried[i].sram_bits) - static_cast<double>(now.sram_bits));
      if (gain > 1e-4 && gain / bits > best_gain) {
        best_gain = gain / bits;
        best = candidates[i];
      }
    }
    if (best == sizes) break;
    sizes = best;
  }
  return sizes;
}

/// Smaller while it holds, the step that saves most first.
JointSizing::Sizes JointSizing::shrink(Sizes sizes) {
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<Sizes> candidates;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] <= single_[i].lowest) continue;
      candidates.push_back(sizes);
      candidates.back()[i] = next_smaller(i, sizes[i]);
    }
    if (candidates.empty()) return sizes;
    const std::vector<JointPoint> tried = evaluate(candidates);
    std::uint64_t least = points_.at(sizes).sram_bits;
    Sizes next = sizes;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!tried[i].holds || tried[i].sram_bits >= least) continue;
      least = tried[i].sram_bits;
      next = candidates[i];
    }
    if (next == sizes) return sizes;
    sizes = next;
  }
  return sizes;
}

JointSizing::Sizes JointSizing::all_larger(const Sizes& sizes) const {
  Sizes larger;
  for (std::size_t i = 0; i < sizes.size(); ++i) larger.push_back(next_larger(i, sizes[i]));
  return larger;
}

std::uint32_t JointSizing::held_on(const Sizes& sizes, std::uint64_t offset, std::uint32_t seeds) {
  const Objectives& objectives = single_.front().request.objectives;
  std::vector<RunSpec> specs;
  for (const RunPlanner* planner : scenarios_) {
    const std::uint64_t first = planner->first_seed() + offset;
    for (const Sizes& of : {unlimited_, sizes}) {
      for (std::uint64_t seed = first; seed < first + seeds; ++seed)
        specs.push_back(planner->spec(settings_of(of), seed));
    }
  }
  const std::vector<RunRecord> runs = campaign_.run(specs);
  std::uint32_t held = 0;
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    bool all = true;
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      const std::span<const RunRecord> reference(&runs[2 * i * seeds + seed], 1);
      const std::span<const RunRecord> run(&runs[(2 * i + 1) * seeds + seed], 1);
      all = all && run.front().complete() &&
            objectives.first().holds(objectives.first().score(run.front(), reference.front())) &&
            objectives.others_hold(run, reference, database_, keys_);
    }
    held += all ? 1U : 0U;
  }
  return held;
}

/// The seeds that a set was fitted to say too little about others: it is enlarged a little until all of a block hold
/// that had no part in it. The steps are small, so that none of the sizes is much larger than it has to be.
JointSizing::Sizes JointSizing::hold_on_fresh_seeds(Sizes sizes, std::uint64_t& next_seed) {
  for (int block = 0; block < kMostBlocks; ++block) {
    const std::uint32_t held = held_on(sizes, next_seed, kFresh);
    next_seed += kFresh;
    if (held == kFresh) break;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = std::min(single_[i].unlimited, std::max(sizes[i] + 1, sizes[i] + sizes[i] / kSmallStep));
  }
  return sizes;
}

void JointSizing::confirm(Sizes sizes) {
  const Sizes searched = sizes;
  const auto confirmed = [&](const Sizes& tried) { return held_on(tried, kFirstUnseen, kConfirming) == kConfirming; };
  for (int step = 0; step < kMostSteps && !confirmed(sizes) && sizes != unlimited_; ++step) sizes = all_larger(sizes);
  // What was enlarged without need goes back, half way if not all the way.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const std::int64_t value : {searched[i], (searched[i] + sizes[i]) / 2}) {
      if (value >= sizes[i]) continue;
      Sizes smaller = sizes;
      smaller[i] = value;
      if (!confirmed(smaller)) continue;
      sizes = smaller;
      break;
    }
  }
  std::uint64_t next_seed = kFirstUnseen + kConfirming;
  sizes = hold_on_fresh_seeds(sizes, next_seed);
  evaluate({sizes});
  points_.at(sizes).unseen_seeds = kTried;
  points_.at(sizes).unseen_held = held_on(sizes, next_seed, kTried);
}

void JointSizing::mark_front() {
  for (auto& [sizes, point] : points_) {
    point.front = std::none_of(points_.begin(), points_.end(), [&](const auto& other) {
      const JointPoint& o = other.second;
      const bool no_worse = o.sram_bits <= point.sram_bits && o.goodput_gbps >= point.goodput_gbps &&
                            o.message_time_p99_us <= point.message_time_p99_us;
      const bool better = o.sram_bits < point.sram_bits || o.goodput_gbps > point.goodput_gbps ||
                          o.message_time_p99_us < point.message_time_p99_us;
      return no_worse && better;
    });
  }
}

std::vector<JointPoint> JointSizing::solve() {
  if (single_.empty()) return {};
  for (const SizingResult& result : single_) unlimited_.push_back(result.unlimited);
  evaluate({unlimited_});
  std::vector<Sizes> sets;
  for (const double share : {0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0}) sets.push_back(at_share(share));
  evaluate(sets);
  const Sizes found = shrink(grow(sets.back()));
  if (points_.at(found).holds) confirm(found);
  mark_front();
  std::vector<JointPoint> points;
  for (const auto& [sizes, point] : points_) points.push_back(point);
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.sram_bits < b.sram_bits; });
  return points;
}

const JointPoint* JointSizing::best(const std::vector<JointPoint>& points) {
  const auto confirmed =
      std::find_if(points.begin(), points.end(), [](const JointPoint& point) { return point.unseen_seeds > 0; });
  if (confirmed != points.end()) return &*confirmed;
  const auto it = std::find_if(points.begin(), points.end(), [](const JointPoint& point) { return point.holds; });
  return it == points.end() ? nullptr : &*it;
}

}  // namespace mrc
