#include "study/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "study/axis.h"

namespace mrc {
namespace {

/// An assumption at the end of its range may make a run endless; a run that takes this many times as long is stopped.
constexpr double kLongestRun = 30;

std::string usual_value(const RunPlanner& planner, const Parameter& parameter) {
  const ScenarioConfig scenario = planner.scenario({});
  return to_string(parameter.get(scenario, scenario.node_default));
}

bool allowed(const RunPlanner& planner, Settings settings, const std::string& key, const std::string& value) {
  settings.emplace_back(key, value);
  try {
    planner.scenario(settings);
    return true;
  } catch (const ParameterError&) {
    return false;
  }
}

/// `wanted`, or the value nearest to it, on the way to `usual`, that the rules allow.
double towards(const RunPlanner& planner, const Settings& context, const Parameter& p, double wanted, double usual) {
  if (allowed(planner, context, p.name, number_text(p, wanted))) return wanted;
  double bad = wanted;
  double good = usual;
  for (int i = 0; i < 40; ++i) {
    const double middle = (bad + good) / 2;
    (allowed(planner, context, p.name, number_text(p, middle)) ? good : bad) = middle;
  }
  // Bisection comes within rounding of the limit; the number that people would write is the limit itself.
  const double round = std::strtod(fmt::format("{:.6g}", good).c_str(), nullptr);
  return allowed(planner, context, p.name, number_text(p, round)) ? round : good;
}

double change_of(const SensitivityRow& row) {
  return std::isfinite(row.factor) ? std::abs(std::log2(row.factor)) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<const Parameter*> assumptions(const std::string& sized_key) {
  std::vector<const Parameter*> chosen;
  for (const Parameter& p : parameters()) {
    const bool control = p.name.starts_with("run.") || p.name.starts_with("traffic.") || p.name == "seed";
    if (p.source == ParameterSource::assumption && !control && p.type != ParameterType::text && p.name != sized_key)
      chosen.push_back(&p);
  }
  return chosen;
}

std::vector<std::string> sensitivity_levels(const RunPlanner& planner, const Settings& context, const Parameter& p) {
  const std::string usual = usual_value(planner, p);
  std::vector<std::string> levels;
  const auto add = [&](const std::string& value) {
    const bool new_one = value != usual && std::find(levels.begin(), levels.end(), value) == levels.end();
    if (new_one && allowed(planner, context, p.name, value)) levels.push_back(value);
  };
  if (p.type == ParameterType::boolean) {
    add("true");
    add("false");
  } else if (!p.words.empty()) {
    for (const std::string& word : p.words) add(word);
  } else {
    const double now = std::strtod(usual.c_str(), nullptr);
    for (const double wanted : {p.minimum, now / 2, now * 2, p.maximum}) {
      add(number_text(p, towards(planner, context, p, std::clamp(wanted, p.minimum, p.maximum), now)));
    }
  }
  return levels;
}

std::vector<std::string> plausible_levels(const RunPlanner& planner, const Settings& context, const Parameter& p) {
  std::vector<std::string> levels;
  if (p.plausible_low == p.plausible_high) return levels;
  const std::string usual = usual_value(planner, p);
  const double now = std::strtod(usual.c_str(), nullptr);
  for (const double wanted : {p.plausible_low, p.plausible_high}) {
    const std::string value = number_text(p, towards(planner, context, p, wanted, now));
    if (value != usual) levels.push_back(value);
  }
  return levels;
}

namespace {

using LevelsOf = std::vector<std::string> (*)(const RunPlanner&, const Settings&, const Parameter&);

std::vector<SensitivityRow> vary(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                 const SizingResult& base, LevelsOf levels_of,
                                 const std::function<void(std::size_t, std::size_t)>& on_row) {
  Settings context = base.request.context;
  const double longest = std::min(1e9, kLongestRun * base.reference.simulated_time_us);
  context.emplace_back("run.max_time_us", fmt::format("{:.0f}", std::max(1.0, std::ceil(longest))));
  std::vector<SensitivityRow> rows;
  for (const Parameter* parameter : assumptions(base.request.key)) {
    for (const std::string& value : levels_of(planner, context, *parameter))
      rows.push_back({parameter->name, usual_value(planner, *parameter), value, std::nullopt, "", 1});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    on_row(i, rows.size());
    SizingRequest request = base.request;
    request.context = context;
    request.context.emplace_back(rows[i].parameter, rows[i].value);
    try {
      const SizingResult result = Sizer(campaign, {&planner}, database, request).size_near(*base.answer);
      rows[i].answer = result.answer;
      rows[i].why_none = result.why_none;
    } catch (const ParameterError& error) {
      rows[i].why_none = error.what();
    }
    rows[i].factor = rows[i].answer ? static_cast<double>(*rows[i].answer) / static_cast<double>(*base.answer)
                                    : std::numeric_limits<double>::infinity();
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return change_of(a) > change_of(b); });
  return rows;
}

}  // namespace

std::vector<SensitivityRow> sensitivity(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                        const SizingResult& base,
                                        const std::function<void(std::size_t, std::size_t)>& on_row) {
  return vary(campaign, planner, database, base, sensitivity_levels, on_row);
}

AssumedInterval assumed_interval(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                 const SizingResult& base,
                                 const std::function<void(std::size_t, std::size_t)>& on_row) {
  AssumedInterval interval{base.answer_low, base.answer_high,
                           vary(campaign, planner, database, base, plausible_levels, on_row)};
  std::erase_if(interval.rows, [&](const SensitivityRow& row) { return row.answer == base.answer; });
  for (const SensitivityRow& row : interval.rows) {
    if (!row.answer) continue;
    interval.low = std::min(interval.low, *row.answer);
    interval.high = std::max(interval.high, *row.answer);
  }
  return interval;
}

}  // namespace mrc
