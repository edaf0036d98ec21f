#include "mrcsim/why_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/exit_code.h"
#include "mrcsim/study_options.h"
#include "study/causes_of_run.h"
#include "study/diagnosis.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

struct WhyOptions : StudyOptions {
  std::string of = "goodput";
  std::string format = "text";
};

/// The metric alone counts.
Objective objective_of(const std::string& metric) {
  return parse_objective(metric == "goodput" ? "goodput>=100%" : metric + "<=100%");
}

Json json_of(const std::vector<Relief>& reliefs) {
  Json settings = Json::object();
  for (const Relief& relief : reliefs) settings[relief.key] = relief.value;
  return settings;
}

Json json_of(const Diagnosis& diagnosis, const Objective& objective) {
  const std::string unit = objective.metric == Objective::Metric::goodput ? "goodput_gbps"
                           : objective.metric == Objective::Metric::p99   ? "message_time_p99_us"
                                                                          : "simulated_time_us";
  const std::string gain = objective.metric == Objective::Metric::goodput ? "gain_gbps" : "gain_us";
  Json answer{{"baseline",
               {{unit, diagnosis.baseline.mean}, {"low", diagnosis.baseline.low}, {"high", diagnosis.baseline.high}}},
              {"causes", Json::array()},
              {"remedies", Json::array()},
              {"settings_tried", diagnosis.tried}};
  const char* amount = diagnosis.causes_of_messages ? "us" : "gbps";
  for (const auto& [cause, lost] : diagnosis.causes) answer["causes"].push_back({{"cause", cause}, {amount, lost}});
  for (const Remedy& remedy : diagnosis.remedies) {
    answer["remedies"].push_back({{"settings", json_of(remedy.reliefs)},
                                  {"kind", to_string(remedy.kind())},
                                  {unit, remedy.metric.mean},
                                  {gain, remedy.gain.mean},
                                  {gain + "_low", remedy.gain.low},
                                  {gain + "_high", remedy.gain.high},
                                  {"next_cause", remedy.next_cause},
                                  {"smallest", json_of(remedy.smallest)}});
    for (const SingleChange& change : remedy.alone) {
      Json row{{"settings", json_of({change.relief})}, {"completes", change.completes}};
      if (change.completes) {
        row[gain] = change.gain.mean;
        row[gain + "_low"] = change.gain.low;
        row[gain + "_high"] = change.gain.high;
      }
      answer["remedies"].back()["alone"].push_back(std::move(row));
    }
  }
  return answer;
}

std::string text_of(const std::vector<Relief>& reliefs) {
  std::string text;
  for (const Relief& relief : reliefs)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", relief.key, relief.value);
  return text;
}

/// With one digit, and without a sign where that is 0.
std::string gain_of(const Interval& gain) {
  const auto tenths = [](double value) { return std::round(10 * value) / 10 + 0.0; };
  return fmt::format("gain {:.1f} ({:.1f} … {:.1f})", tenths(gain.mean), tenths(gain.low), tenths(gain.high));
}

void print(const Diagnosis& diagnosis, const Objective& objective) {
  constexpr std::size_t most_causes = 5;
  constexpr double smallest = 0.05;
  const bool of_messages = diagnosis.causes_of_messages;
  fmt::print("as it is: {:.1f} {} ({:.1f} … {:.1f})\n", diagnosis.baseline.mean, objective.unit(),
             diagnosis.baseline.low, diagnosis.baseline.high);
  fmt::print("  {}, by cause\n", of_messages ? "time of the slowest percent of the messages" : "lost line rate");
  for (std::size_t i = 0; i < std::min(most_causes, diagnosis.causes.size()); ++i) {
    if (diagnosis.causes[i].second < smallest) continue;
    fmt::print("    {:>8.2f} {}  {}\n", diagnosis.causes[i].second, unit_of_causes(of_messages),
               diagnosis.causes[i].first);
  }
  if (diagnosis.remedies.empty()) {
    fmt::print("nothing worth changing: none of {} settings gains {:.0f} %\n", diagnosis.tried, 100 * kLeastGain);
    return;
  }
  fmt::print("what helps, of {} settings that were run\n", diagnosis.tried);
  for (const Remedy& remedy : diagnosis.remedies) {
    fmt::print("    {:>8.1f} {}  {}  {:<11} {}; then {}\n", remedy.metric.mean, objective.unit(), gain_of(remedy.gain),
               to_string(remedy.kind()), text_of(remedy.reliefs), remedy.next_cause);
    for (const SingleChange& change : remedy.alone) {
      const std::string gain = change.completes ? gain_of(change.gain) : "does not complete";
      fmt::print("    {:>14}alone: {} with {}\n", "", gain, text_of({change.relief}));
    }
    if (!remedy.smallest.empty()) fmt::print("    {:>23}99 % of the gain with {}\n", "", text_of(remedy.smallest));
  }
}

int why(const WhyOptions& options) {
  const Objective objective = objective_of(options.of);
  StudyOptions with_causes = options;
  with_causes.assignments = with_causes_of(objective, options.assignments);
  const RunPlanner planner({options.scenario, with_causes.assignments});
  require_known(planner.scenario({}), objective, "--of " + options.of);
  StudyDatabase database(options.database);
  ProgressLine progress(!options.quiet && options.format == "text");
  const auto campaign = make_campaign(with_causes, database, progress);
  const Diagnosis diagnosis = Diagnoser(*campaign, planner, database, objective, options.seeds).diagnose();
  progress.finish();
  const Json answer = json_of(diagnosis, objective);
  const Json description{{"of", options.of}, {"seeds", options.seeds}, {"set", options.assignments}};
  const std::int64_t study = database.study("why", options.scenario, description.dump(), typed_command());
  keep(database, study, diagnosis.runs, answer);
  if (options.format == "json") {
    fmt::print("{}\n", answer.dump(2));
  } else {
    print(diagnosis, objective);
    fmt::print("study {} in {}; charts: mrcsim report {}\n", study, options.database, options.database);
  }
  return kExitOk;
}

}  // namespace

void add_why_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand("why", "Find by runs what makes a scenario faster");
  add_study_options(*command, *options, 3);
  command
      ->add_option("--of", options->of,
                   "what is to become better: goodput, p99 (message time) or step (time of the run)")
      ->check(CLI::IsMember({"goodput", "p99", "step"}));
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->callback([options, &exit_code] { exit_code = run_study(*options, [&] { return why(*options); }); });
}

}  // namespace mrc
