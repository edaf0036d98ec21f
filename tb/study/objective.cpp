#include "study/objective.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/buffers.h"
#include "study/study_error.h"

namespace mrc {
namespace {

constexpr std::array<std::string_view, 6> kMetrics{"goodput", "p99", "step", "refusals", "drops", "nacks"};

std::string_view sign_of(const Objective& objective, const std::string& text, std::size_t at) {
  if (objective.is_count() && text.substr(at, 1) == "=") return "=";
  return objective.more_is_better() ? ">=" : "<=";
}

void require_whole_runs(const ScenarioConfig& scenario, const std::string& asked, const char* or_else) {
  if (scenario.run.stop_within_percent == 0) return;
  throw StudyError(asked +
                   ": needs complete runs: with run.stop_within_percent a run ends when its goodput is known; allowed: "
                   "run.stop_within_percent = 0" +
                   or_else);
}

}  // namespace

double Objective::metric_of(const RunRecord& run) const {
  if (!run.complete()) return more_is_better() ? 0 : std::numeric_limits<double>::infinity();
  switch (metric) {
    case Metric::goodput:
      return run.goodput_gbps;
    case Metric::p99:
      return run.message_time_p99_us;
    case Metric::step:
      return run.simulated_time_us;
    default:
      throw StudyError(text + ": is counted, not measured");
  }
}

double Objective::score(const RunRecord& run, const RunRecord& reference) const {
  return relative ? metric_of(run) / metric_of(reference) : metric_of(run);
}

double Objective::count(const std::string& result_json, std::span<const std::string> keys) const {
  const auto result = nlohmann::json::parse(result_json, nullptr, false);
  if (!result.is_object()) return std::numeric_limits<double>::infinity();
  if (metric == Metric::drops) return result.at("packets").at("dropped").get<double>();
  if (metric == Metric::nacks) return result.at("packets").at("nacks").get<double>();
  double refusals = 0;
  for (const auto& buffer : result.at("buffers")) {
    const auto node = buffer.at("node").get<std::string>();
    const auto name = buffer.at("name").get<std::string>();
    const bool is_sized =
        std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return sizes_buffer(key, node, name); });
    if (is_sized) refusals += buffer.at("refusals").get<double>();
  }
  return refusals;
}

const char* Objective::unit() const {
  if (metric == Metric::goodput) return "Gb/s";
  return is_count() ? "" : "us";
}

Objective parse_objective(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw StudyError(
        fmt::format("--hold {}: {}; expected goodput>=99%, goodput>=700 (Gb/s), p99<=110%, p99<=200 (us), "
                    "step<=105%, step<=5000, refusals=0, drops=0 or nacks=0",
                    text, why));
  };
  Objective objective;
  objective.text = text;
  const std::size_t at = std::min(text.find_first_of("<>="), text.size());
  const std::string name = text.substr(0, at);
  const auto known = std::find(kMetrics.begin(), kMetrics.end(), name);
  if (known == kMetrics.end()) refuse(fmt::format("\"{}\" is not a metric", name));
  objective.metric = static_cast<Objective::Metric>(known - kMetrics.begin());
  const std::string_view sign = sign_of(objective, text, at);
  if (text.substr(at, sign.size()) != sign)
    refuse(objective.more_is_better() ? "goodput takes >="
           : objective.is_count()     ? "a count takes = or <="
                                      : "a time takes <=");
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + sign.size(), end, objective.threshold);
  objective.relative = rest != end && *rest == '%';
  const bool is_number =
      error == std::errc() && rest + (objective.relative ? 1 : 0) == end && std::isfinite(objective.threshold);
  if (objective.is_count()) {
    if (!is_number || objective.relative || objective.threshold < 0) refuse("no number from 0 on");
    return objective;
  }
  if (!is_number || !(objective.threshold > 0)) refuse("no number above 0");
  if (objective.relative) objective.threshold /= 100;
  if (objective.relative && objective.more_is_better() && objective.threshold > 1)
    refuse("a finite buffer is measured against an unlimited one; at most 100%");
  return objective;
}

std::string Objectives::text() const {
  std::vector<std::string> texts;
  for (const Objective& objective : all) texts.push_back(objective.text);
  return fmt::format("{}", fmt::join(texts, " and "));
}

bool Objectives::others_hold(std::span<const RunRecord> runs, std::span<const RunRecord> references,
                             StudyDatabase& database, std::span<const std::string> keys) const {
  for (std::size_t k = 1; k < all.size(); ++k) {
    const Objective& objective = all[k];
    double mean = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (objective.is_count()) {
        if (!objective.holds(objective.count(database.result_json(runs[i].id), keys))) return false;
      } else {
        mean += objective.score(runs[i], references[i]) / static_cast<double>(runs.size());
      }
    }
    if (!objective.is_count() && !objective.holds(mean)) return false;
  }
  return true;
}

Objectives parse_objectives(const std::vector<std::string>& texts) {
  Objectives objectives;
  objectives.all.clear();
  for (const std::string& text : texts) objectives.all.push_back(parse_objective(text));
  const auto measured = std::find_if(objectives.all.begin(), objectives.all.end(),
                                     [](const Objective& objective) { return !objective.is_count(); });
  if (measured == objectives.all.end()) {
    throw StudyError(fmt::format(
        "--hold {}: has no curve to look for a size on; also give goodput, p99 or step, such as goodput>=99%",
        texts.empty() ? "" : texts.front()));
  }
  std::rotate(objectives.all.begin(), measured, measured + 1);
  return objectives;
}

void require_whole_runs(const ScenarioConfig& scenario, const std::string& asked) {
  require_whole_runs(scenario, asked, "");
}

void require_known(const ScenarioConfig& scenario, const Objective& objective, const std::string& asked) {
  if (objective.metric == Objective::Metric::goodput) return;
  require_whole_runs(scenario, asked, " or the objective goodput");
}

}  // namespace mrc
