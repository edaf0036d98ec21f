#include "study/sizer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/axis.h"
#include "study/buffers.h"
#include "study/causes_of_run.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

/// A curve ends where a quarter of what is to be held is left: deeper down nothing is learnt.
constexpr double kDeepShare = 0.25;
/// Bisection ends at this share of a value, or at 1.
constexpr std::int64_t kResolution = 256;
/// Values that a scan tries, at least; all, where there are no more.
constexpr std::int64_t kScanValues = 64;

bool is_allowed(const RunPlanner& planner, const Settings& context, const std::string& key, std::int64_t value) {
  Settings all = context;
  all.emplace_back(key, fmt::format("{}", value));
  try {
    planner.scenario(all);
    return true;
  } catch (const ParameterError&) {
    return false;
  }
}

std::map<std::string, double> mean_causes(StudyDatabase& database, std::span<const RunRecord> runs,
                                          const Objective& objective) {
  std::map<std::string, double> mean;
  for (const RunRecord& run : runs) {
    const Json result = Json::parse(database.result_json(run.id));
    for (const CauseOfRun& cause : causes_of_run(result, objective))
      mean[cause.cause] += cause.amount / static_cast<double>(runs.size());
  }
  return mean;
}

}  // namespace

const Parameter& size_of_key(const std::string& key) {
  const std::string option = "--buffer " + key;
  const Parameter& parameter = parameter_of_key(key, option);
  if (parameter.type != ParameterType::integer || !parameter.words.empty() || parameter.name == "seed") {
    throw StudyError(
        fmt::format("--buffer {}: is not a size (type {}; allowed: {}); sizes are whole numbers of a range", key,
                    to_string(parameter.type), parameter.allowed()));
  }
  return parameter;
}

std::int64_t largest_allowed(const RunPlanner& planner, const Settings& context, const std::string& key,
                             std::int64_t low) {
  const auto allowed = [&](std::int64_t value) { return is_allowed(planner, context, key, value); };
  auto high = static_cast<std::int64_t>(size_of_key(key).maximum);
  if (allowed(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (allowed(middle) ? low : high) = middle;
  }
  return low;
}

Settings unlimited_buffers(const RunPlanner& planner, const std::vector<std::string>& sized) {
  const ScenarioConfig scenario = planner.scenario({});
  Settings settings;
  for (const std::string& key : buffer_keys(scenario)) {
    const bool is_sized =
        std::any_of(sized.begin(), sized.end(), [&](const std::string& other) { return parameter_part(other) == key; });
    if (is_sized) continue;
    const Parameter& parameter = size_of_key(key);
    const auto now = static_cast<std::int64_t>(number_of(parameter.get(scenario, scenario.node_default)));
    const std::int64_t most = largest_allowed(planner, settings, key, now);
    if (now != 0) settings.emplace_back(key, fmt::format("{}", most));
    // A node that has its own value keeps it otherwise.
    const ScenarioConfig changed = planner.scenario(settings);
    for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
      const double own = number_of(parameter.get(changed, changed.node(node)));
      if (own == 0 || own == static_cast<double>(most)) continue;
      settings.emplace_back(fmt::format("node.nic{}.{}", node, key), fmt::format("{}", most));
    }
  }
  return settings;
}

bool SizingResult::noise_dominates() const {
  if (!answer) return false;
  // Bisection ends close to the target: a narrow interval of sizes is as good as a size.
  constexpr std::int64_t narrow_share = 8;
  const Interval& score = curve.at(*answer).score;
  const double distance = std::abs(score.mean - request.objectives.first().threshold);
  const std::int64_t narrow = std::max(resolution, *answer / narrow_share);
  return score.high - score.low > distance && answer_high - answer_low > narrow;
}

Sizer::Sizer(Campaign& campaign, SizingScenarios scenarios, StudyDatabase& database, SizingRequest request)
    : campaign_(campaign), scenarios_(std::move(scenarios)), database_(database), parameter_(size_of_key(request.key)) {
  result_.request = std::move(request);
}

Settings Sizer::settings(std::int64_t value) const {
  Settings all = result_.request.context;
  all.emplace_back(result_.request.key, fmt::format("{}", value));
  return all;
}

bool Sizer::allowed(std::int64_t value) const {
  return std::all_of(scenarios_.begin(), scenarios_.end(), [&](const RunPlanner* planner) {
    return is_allowed(*planner, result_.request.context, result_.request.key, value);
  });
}

/// The rules between parameters allow an interval of values; where its ends lie within the range is not written down.
std::int64_t Sizer::smallest_allowed() const {
  auto low = static_cast<std::int64_t>(parameter_.minimum);
  if (allowed(low)) return low;
  std::int64_t high = std::max<std::int64_t>(low, 1);
  while (!allowed(high)) {
    low = high;
    high *= 2;
    if (static_cast<double>(high) > parameter_.maximum) {
      for (const RunPlanner* planner : scenarios_)
        planner->scenario(settings(static_cast<std::int64_t>(parameter_.maximum)));
      return static_cast<std::int64_t>(parameter_.maximum);
    }
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (allowed(middle) ? high : low) = middle;
  }
  return high;
}

void Sizer::find_cause(SizingPoint& point, std::span<const RunRecord> runs, const SizingReference& reference) {
  for (const RunRecord& run : runs) {
    if (run.complete()) continue;
    point.cause = run.state == "done" ? run.status : run.error;
    return;
  }
  std::map<std::string, double> growth = mean_causes(database_, runs, result_.request.objectives.first());
  for (const auto& [cause, amount] : reference.amounts) growth[cause] -= amount;
  // Less payload has less framing; framing is not a cause.
  growth.erase("framing");
  for (const auto& [cause, more] : growth) {
    if (more <= point.cause_more) continue;
    point.cause = cause;
    point.cause_more = more;
  }
  // Below line rate causes also change places; what is lost is no more than the goodput is less.
  if (!result_.causes_of_messages)
    point.cause_more = std::clamp(reference.goodput_gbps - point.goodput_gbps, 0.0, point.cause_more);
}

/// By structure: as the run counted them, or of the node that the key names, of which results do not tell.
std::map<std::string, std::uint64_t> Sizer::bits_of(std::int64_t value, const RunRecord& run) {
  const std::string& key = result_.request.key;
  if (!node_part(key).empty()) return structure_bits(scenarios_.front()->scenario(settings(value)), key);
  std::map<std::string, std::uint64_t> bits;
  const Json result = Json::parse(database_.result_json(run.id), nullptr, false);
  if (!result.is_object()) return bits;
  for (const Json& row : result.at("sram"))
    bits[row.at("structure").get<std::string>()] += row.at("bits").get<std::uint64_t>();
  return bits;
}

SizingPoint Sizer::point_in(std::size_t scenario, std::int64_t value, std::span<const RunRecord> runs) {
  const Objectives& objectives = result_.request.objectives;
  const Objective& objective = objectives.first();
  const std::span<const RunRecord> references(reference_.data() + scenario * runs.size(), runs.size());
  SizingPoint point;
  point.value = value;
  point.scenario = scenarios_[scenario]->subject().scenario;
  std::vector<double> scores;
  const auto n = static_cast<double>(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    scores.push_back(objective.score(runs[i], references[i]));
    point.complete += runs[i].complete() ? 1U : 0U;
    point.goodput_gbps += runs[i].goodput_gbps / n;
    point.message_time_p99_us += runs[i].message_time_p99_us / n;
    point.simulated_time_us += runs[i].simulated_time_us / n;
  }
  point.score = confidence_interval(scores);
  const bool all =
      point.complete == runs.size() && objectives.others_hold(runs, references, database_, {&result_.request.key, 1});
  const bool more = objective.more_is_better();
  point.holds = all && objective.holds(point.score.mean);
  point.holds_surely = all && objective.holds(more ? point.score.low : point.score.high);
  point.holds_maybe = all && objective.holds(more ? point.score.high : point.score.low);
  if (scenario < result_.references.size()) find_cause(point, runs, result_.references[scenario]);
  return point;
}

SizingPoint Sizer::point_of(std::int64_t value, std::span<const RunRecord> runs) {
  const Objective& objective = result_.request.objectives.first();
  const std::size_t seeds = result_.request.seeds;
  SizingPoint worst;
  bool holds = true;
  bool surely = true;
  bool maybe = true;
  for (std::size_t i = 0; i < scenarios_.size(); ++i) {
    const SizingPoint point = point_in(i, value, runs.subspan(i * seeds, seeds));
    holds = holds && point.holds;
    surely = surely && point.holds_surely;
    maybe = maybe && point.holds_maybe;
    const bool is_worse = point.holds != worst.holds ? worst.holds
                                                     : objective.share_of_target(point.score.mean) <
                                                           objective.share_of_target(worst.score.mean);
    if (i == 0 || is_worse) worst = point;
  }
  worst.holds = holds;
  worst.holds_surely = surely;
  worst.holds_maybe = maybe;
  for (const auto& [structure, bits] : bits_of(value, runs.front())) {
    worst.sram_bits += bits;
    const auto reference = reference_sram_.find(structure);
    if (reference == reference_sram_.end() || reference->second == bits) continue;
    worst.buffer_bits += bits;
    sized_structures_.insert(structure);
  }
  return worst;
}

std::vector<SizingPoint> Sizer::evaluate_all(const std::vector<std::int64_t>& values) {
  std::vector<RunSpec> specs;
  for (const std::int64_t value : values) {
    for (const RunPlanner* planner : scenarios_) {
      for (RunSpec& spec : planner->specs(settings(value), result_.request.seeds)) specs.push_back(std::move(spec));
    }
  }
  const std::vector<RunRecord> records = campaign_.run(specs);
  std::vector<SizingPoint> points;
  const std::size_t each = scenarios_.size() * result_.request.seeds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::span<const RunRecord> runs(records.data() + i * each, each);
    for (const RunRecord& run : runs) runs_.emplace_back(settings(values[i]), run.id);
    if (values[i] == result_.unlimited && reference_.empty()) reference_.assign(runs.begin(), runs.end());
    points.push_back(point_of(values[i], runs));
    result_.curve[values[i]] = points.back();
  }
  return points;
}

const SizingPoint& Sizer::evaluate(std::int64_t value) {
  const auto known = result_.curve.find(value);
  if (known != result_.curve.end()) return known->second;
  evaluate_all({value});
  return result_.curve.at(value);
}

void Sizer::describe_references() {
  const std::size_t seeds = result_.request.seeds;
  result_.causes_of_messages =
      has_message_causes(Json::parse(database_.result_json(reference_.front().id)), result_.request.objectives.first());
  for (std::size_t i = 0; i < scenarios_.size(); ++i) {
    const std::span<const RunRecord> runs(reference_.data() + i * seeds, seeds);
    SizingReference reference{.scenario = scenarios_[i]->subject().scenario,
                              .amounts = mean_causes(database_, runs, result_.request.objectives.first()),
                              .causes = {}};
    for (const RunRecord& run : runs) {
      reference.goodput_gbps += run.goodput_gbps / static_cast<double>(seeds);
      reference.message_time_p99_us += run.message_time_p99_us / static_cast<double>(seeds);
    }
    for (const auto& [cause, amount] : reference.amounts) {
      if (cause != "framing" && cause != "unattributed") reference.causes.emplace_back(cause, amount);
    }
    std::stable_sort(reference.causes.begin(), reference.causes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    result_.references.push_back(std::move(reference));
  }
}

/// Range and reference; false where the reference itself does not end well.
bool Sizer::prepare() {
  result_.lowest = smallest_allowed();
  result_.unlimited = static_cast<std::int64_t>(parameter_.maximum);
  for (const RunPlanner* planner : scenarios_) {
    result_.unlimited = std::min(
        result_.unlimited, largest_allowed(*planner, result_.request.context, result_.request.key, result_.lowest));
  }
  result_.reference = evaluate(result_.unlimited);
  for (const RunRecord& run : reference_) {
    if (run.complete()) continue;
    result_.why_none = fmt::format("the run with {} = {} is not complete: {}", result_.request.key, result_.unlimited,
                                   run.state == "done" ? run.status : run.error);
    return false;
  }
  describe_references();
  reference_sram_ = bits_of(result_.unlimited, reference_.front());
  // It is what the others are compared with.
  result_.reference.cause.clear();
  result_.reference.cause_more = 0;
  result_.reference.buffer_bits = 0;
  result_.curve[result_.unlimited] = result_.reference;
  if (!result_.reference.holds) {
    result_.why_none =
        fmt::format("not even {} = {} holds {}: {:.1f} Gb/s, p99 {:.2f} us, {:.1f} us in all", result_.request.key,
                    result_.unlimited, result_.request.objectives.text(), result_.reference.goodput_gbps,
                    result_.reference.message_time_p99_us, result_.reference.simulated_time_us);
    return false;
  }
  return true;
}

/// Twice what the buffer ever held in the reference runs, where it can be told by its capacity: more cannot matter
/// much.
std::int64_t Sizer::plateau() const {
  std::int64_t high_water = 0;
  for (const RunRecord& run : reference_) {
    const Json result = Json::parse(database_.result_json(run.id));
    for (const Json& buffer : result.at("buffers")) {
      if (buffer.at("capacity").get<std::int64_t>() == result_.unlimited)
        high_water = std::max(high_water, buffer.at("high_water").get<std::int64_t>());
    }
  }
  if (high_water == 0) return result_.unlimited;
  std::int64_t top = 1;
  while (top < 2 * high_water) top *= 2;
  return std::clamp(top, result_.lowest, result_.unlimited);
}

void Sizer::coarse_curve() {
  std::int64_t top = plateau();
  while (!evaluate(top).holds && top < result_.unlimited)
    top = top > result_.unlimited / 4 ? result_.unlimited : 4 * top;
  // A wide range without a known plateau is crossed in larger steps.
  const double octaves =
      std::log2(static_cast<double>(top) / static_cast<double>(std::max<std::int64_t>(1, result_.lowest)));
  const std::int64_t factor = octaves > 16 ? 4 : 2;
  std::vector<std::int64_t> values;
  for (std::int64_t value = top / factor; value > result_.lowest; value /= factor) values.push_back(value);
  values.push_back(result_.lowest);
  constexpr std::size_t at_once = 2;
  for (std::size_t i = 0; i < values.size(); i += at_once) {
    const std::size_t count = std::min(at_once, values.size() - i);
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto points = evaluate_all({begin, begin + static_cast<std::ptrdiff_t>(count)});
    if (result_.request.objectives.first().share_of_target(points.back().score.mean) < kDeepShare) break;
  }
}

/// The smallest value from which on the predicate holds, as far as the values tried so far and those tried here tell.
std::int64_t Sizer::bisect(Predicate holds) {
  std::int64_t good = result_.unlimited;
  for (auto it = result_.curve.rbegin(); it != result_.curve.rend() && it->second.*holds; ++it) good = it->first;
  const auto at = result_.curve.find(good);
  if (at == result_.curve.begin()) return good;
  std::int64_t bad = std::prev(at)->first;
  while (good - bad > std::max<std::int64_t>(1, good / kResolution)) {
    const std::int64_t middle = bad + (good - bad) / 2;
    (evaluate(middle).*holds ? good : bad) = middle;
  }
  return good;
}

bool Sizer::monotone() const {
  bool held = false;
  for (const auto& [value, point] : result_.curve) {
    if (held && !point.holds) return false;
    held = held || point.holds;
  }
  return true;
}

/// Values between the first that holds and the last that does not, and around them.
void Sizer::scan() {
  result_.scanned = true;
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const auto& [value, point] : result_.curve) {
    if (point.holds && low == 0) low = value;
    if (!point.holds) high = value;
  }
  const auto above = result_.curve.upper_bound(high);
  const std::int64_t end = above == result_.curve.end() ? result_.unlimited : above->first;
  const auto below = result_.curve.lower_bound(low);
  const std::int64_t begin = below == result_.curve.begin() ? low : std::prev(below)->first;
  std::set<std::int64_t> values;
  if (end - begin <= kScanValues) {
    for (std::int64_t value = begin; value <= end; ++value) values.insert(value);
  } else {
    const double ratio = static_cast<double>(end) / static_cast<double>(std::max<std::int64_t>(1, begin));
    for (std::int64_t i = 0; i <= kScanValues; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kScanValues);
      values.insert(std::llround(static_cast<double>(std::max<std::int64_t>(1, begin)) * std::pow(ratio, share)));
    }
  }
  std::vector<std::int64_t> fresh;
  for (const std::int64_t value : values) {
    if (!result_.curve.contains(value)) fresh.push_back(value);
  }
  if (!fresh.empty()) evaluate_all(fresh);
}

void Sizer::conclude() {
  result_.answer = bisect(&SizingPoint::holds);
  result_.answer_low = bisect(&SizingPoint::holds_maybe);
  result_.answer_high = bisect(&SizingPoint::holds_surely);
  if (!result_.scanned && !monotone()) {
    scan();
    conclude();
    return;
  }
  for (const std::string& structure : sized_structures_) result_.reference.buffer_bits += reference_sram_.at(structure);
  result_.curve[result_.unlimited] = result_.reference;
  const auto at = result_.curve.find(*result_.answer);
  result_.resolution = at == result_.curve.begin() ? 1 : at->first - std::prev(at)->first;
}

SizingResult Sizer::size() {
  if (!prepare()) return result_;
  coarse_curve();
  conclude();
  return result_;
}

SizingResult Sizer::size_near(std::int64_t hint) {
  if (!prepare()) return result_;
  std::int64_t at = std::clamp(hint, result_.lowest, result_.unlimited);
  if (evaluate(at).holds) {
    // One step down first: most often the answer is the same.
    std::int64_t step = std::max<std::int64_t>(1, at / kResolution);
    while (at > result_.lowest && evaluate(at).holds) {
      at = std::max(result_.lowest, at - step);
      step = std::max(step * 2, at / 4);
    }
  } else {
    while (at < result_.unlimited && !evaluate(at).holds) at = at > result_.unlimited / 2 ? result_.unlimited : at * 2;
  }
  evaluate(at);
  result_.answer = bisect(&SizingPoint::holds);
  result_.answer_low = result_.answer_high = *result_.answer;
  return result_;
}

}  // namespace mrc
