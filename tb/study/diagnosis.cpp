#include "study/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "parameters/parameter_value.h"
#include "parameters/registry.h"
#include "study/buffers.h"
#include "study/causes_of_run.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

/// Of a run's limits, causes that are looked at for what else may help.
constexpr std::size_t kFirstCauses = 4;
constexpr std::size_t kSinglesInPairs = 8;
constexpr std::size_t kStarters = 3;
constexpr std::size_t kMostRemedies = 5;

Settings settings_of(const std::vector<Relief>& reliefs) {
  Settings settings;
  for (const Relief& relief : reliefs) settings.emplace_back(relief.key, relief.value);
  std::sort(settings.begin(), settings.end());
  return settings;
}

/// False for a buffer that the run never filled: a larger one changes nothing. A buffer may refuse before it is full,
/// where a place is kept for what is on its way.
bool was_short(const Json& result, const Relief& relief, std::uint64_t packet_bytes) {
  bool listed = false;
  for (const Json& buffer : result.at("buffers")) {
    if (!sizes_buffer(relief.key, buffer.at("node").get<std::string>(), buffer.at("name").get<std::string>())) continue;
    listed = true;
    const std::uint64_t margin = buffer.at("unit") == "bytes" ? packet_bytes : 0;
    const bool full =
        buffer.at("high_water").get<std::uint64_t>() + margin >= buffer.at("capacity").get<std::uint64_t>();
    if (full || buffer.at("refusals").get<std::uint64_t>() > 0) return true;
  }
  return !listed;
}

std::set<std::string> parameters_of(const std::vector<Relief>& reliefs) {
  std::set<std::string> names;
  for (const Relief& relief : reliefs) names.emplace(parameter_part(relief.key));
  return names;
}

/// Of the parameter that `key` sets: at that node, and at all nodes, because what one node is short of the other often
/// is too.
std::vector<Relief> reliefs_of_key(const std::vector<Relief>& all, const std::string& key) {
  std::vector<Relief> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Relief& relief) { return relief.key == key || relief.key == parameter_part(key); });
  return found;
}

}  // namespace

ReliefKind Remedy::kind() const {
  ReliefKind worst = ReliefKind::design;
  for (const Relief& relief : reliefs) worst = std::max(worst, relief.kind);
  return worst;
}

Diagnoser::Diagnoser(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database, Objective objective,
                     std::uint32_t seeds)
    : campaign_(campaign),
      planner_(planner),
      database_(database),
      objective_(std::move(objective)),
      seeds_(seeds),
      more_(objective_.more_is_better()) {}

std::vector<Diagnoser::Tried> Diagnoser::try_all(const std::vector<Reliefs>& wanted) {
  std::vector<RunSpec> specs;
  std::vector<Settings> settings;
  for (const Reliefs& reliefs : wanted) {
    const Settings changed = settings_of(reliefs);
    if (!known_.try_emplace(changed, Tried{reliefs}).second) continue;
    try {
      specs.push_back(planner_.spec(changed, planner_.first_seed()));
      settings.push_back(changed);
    } catch (const ParameterError&) {
      // The rules of the scenario do not allow it.
    }
  }
  const std::vector<RunRecord> records = campaign_.run(specs);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].complete()) continue;
    Tried& tried = known_.at(settings[i]);
    tried.run = records[i].id;
    tried.gain = gain_of(objective_.metric_of(records[i]));
  }
  std::vector<Tried> all;
  for (const Reliefs& reliefs : wanted) {
    const Tried& tried = known_.at(settings_of(reliefs));
    if (tried.run != 0) all.push_back(tried);
  }
  std::stable_sort(all.begin(), all.end(), [](const Tried& a, const Tried& b) { return a.gain > b.gain; });
  return all;
}

std::vector<Relief> Diagnoser::singles() const {
  const ScenarioConfig scenario = planner_.scenario({});
  const Json result = Json::parse(database_.result_json(base_run_));
  std::vector<Relief> worth_a_run = reliefs(scenario);
  std::erase_if(worth_a_run,
                [&](const Relief& relief) { return !was_short(result, relief, scenario.protocol.mtu_bytes); });
  return worth_a_run;
}

std::vector<std::string> Diagnoser::first_reliefs(std::int64_t run) const {
  std::vector<std::string> keys;
  std::size_t causes = 0;
  const Json result = Json::parse(database_.result_json(run));
  for (const CauseOfRun& cause : causes_of_run(result, objective_)) {
    if (cause.relieved_by.empty()) continue;
    // Small packets cost more than their headers: queues hold fewer bytes, and servers see more packets.
    if (cause.cause != "framing" && ++causes > kFirstCauses) continue;
    keys.insert(keys.end(), cause.relieved_by.begin(), cause.relieved_by.end());
  }
  return keys;
}

std::vector<Diagnoser::Tried> Diagnoser::try_singles() {
  std::vector<Reliefs> wanted;
  for (Relief& relief : singles()) wanted.push_back({std::move(relief)});
  const std::vector<Relief> all = reliefs(planner_.scenario({}));
  for (const std::string& key : first_reliefs(base_run_)) {
    for (const Relief& relief : reliefs_of_key(all, key)) {
      const auto same = [&](const Reliefs& other) { return other.front().key == relief.key; };
      if (std::none_of(wanted.begin(), wanted.end(), same)) wanted.push_back({relief});
    }
  }
  return try_all(wanted);
}

std::vector<Diagnoser::Reliefs> Diagnoser::pairs_beside(const std::vector<Tried>& singles) {
  const std::vector<Relief> all = reliefs(planner_.scenario({}));
  std::vector<Reliefs> starters;
  for (std::size_t i = 0; i < std::min(kStarters, singles.size()); ++i) starters.push_back(singles[i].reliefs);
  for (const std::string& key : first_reliefs(base_run_)) {
    for (const Relief& relief : reliefs_of_key(all, key)) starters.push_back({relief});
  }
  std::vector<Reliefs> pairs;
  for (const Tried& starter : try_all(starters)) {
    std::vector<Relief> beside;
    for (const std::string& key : first_reliefs(starter.run)) {
      for (const Relief& relief : reliefs_of_key(all, key)) beside.push_back(relief);
    }
    for (std::size_t i = 0; i < std::min(kSinglesInPairs, singles.size()); ++i) {
      if (singles[i].gain > 0) beside.push_back(singles[i].reliefs.front());
    }
    for (const Relief& relief : beside) {
      if (relief.key != starter.reliefs.front().key) pairs.push_back({starter.reliefs.front(), relief});
    }
  }
  return pairs;
}

Remedy Diagnoser::confirm(const Tried& tried, Diagnosis& diagnosis) {
  Remedy remedy{.reliefs = tried.reliefs, .smallest = {}, .metric = {}, .gain = {}, .next_cause = "", .alone = {}};
  const auto changed = campaign_.run(planner_.specs(settings_of(tried.reliefs), seeds_));
  const auto as_it_is = campaign_.run(planner_.specs({}, seeds_));
  std::vector<double> metrics;
  std::vector<double> gains;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const double metric = objective_.metric_of(changed[i]);
    const double before = objective_.metric_of(as_it_is[i]);
    metrics.push_back(metric);
    diagnosis.runs.emplace_back(settings_of(tried.reliefs), changed[i].id);
    gains.push_back(more_ ? metric - before : before - metric);
  }
  remedy.metric = confidence_interval(metrics);
  remedy.gain = confidence_interval(gains);
  const Json result = Json::parse(database_.result_json(tried.run));
  for (const CauseOfRun& cause : causes_of_run(result, objective_)) {
    if (cause.cause == "framing") continue;
    remedy.next_cause = cause.cause;
    break;
  }
  return remedy;
}

/// Over all seeds, so that a reader can compare each change with the pair.
void Diagnoser::confirm_singly(Remedy& remedy, Diagnosis& diagnosis) {
  const auto as_it_is = campaign_.run(planner_.specs({}, seeds_));
  for (const Relief& relief : remedy.reliefs) {
    SingleChange change{.relief = relief, .gain = {}};
    const Settings settings = settings_of({relief});
    try {
      const auto runs = campaign_.run(planner_.specs(settings, seeds_));
      std::vector<double> gains;
      change.completes = true;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        change.completes = change.completes && runs[i].complete();
        const double more = objective_.metric_of(runs[i]) - objective_.metric_of(as_it_is[i]);
        gains.push_back(more_ ? more : -more);
        diagnosis.runs.emplace_back(settings, runs[i].id);
      }
      if (change.completes) change.gain = confidence_interval(gains);
    } catch (const ParameterError&) {
      // The rules of the scenario allow it only together with the other.
    }
    remedy.alone.push_back(std::move(change));
  }
}

void Diagnoser::find_smallest(Remedy& remedy) {
  const ScenarioConfig scenario = planner_.scenario({});
  constexpr double keep = 0.99;
  constexpr int rounds = 3;
  constexpr int points = 3;
  const double enough = keep * known_.at(settings_of(remedy.reliefs)).gain;
  Reliefs smallest = remedy.reliefs;
  for (Relief& relief : smallest) {
    const Parameter* parameter = find_parameter(parameter_part(relief.key));
    if (parameter->type != ParameterType::integer || !parameter->words.empty()) continue;
    auto high = std::stoll(relief.value);
    auto low = high / kBufferRelief;
    for (int round = 0; round < rounds && high > low + 1; ++round) {
      std::vector<Reliefs> wanted;
      std::vector<long long> values;
      for (int i = 1; i <= points; ++i) {
        const double share = static_cast<double>(i) / (points + 1);
        const auto value =
            std::llround(static_cast<double>(low) *
                         std::pow(static_cast<double>(high) / static_cast<double>(std::max(low, 1LL)), share));
        relief.value = fmt::format("{}", value);
        values.push_back(value);
        wanted.push_back(smallest);
      }
      try_all(wanted);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Tried& tried = known_.at(settings_of(wanted[i]));
        if (tried.run != 0 && tried.gain >= enough) {
          high = values[i];
          break;
        }
        low = values[i];
      }
    }
    relief.value = fmt::format("{}", high);
  }
  if (settings_of(smallest) != settings_of(remedy.reliefs)) remedy.smallest = smallest;
}

Diagnosis Diagnoser::diagnose() {
  Diagnosis diagnosis;
  const auto as_it_is = campaign_.run(planner_.specs({}, seeds_));
  std::vector<double> metrics;
  for (const RunRecord& run : as_it_is) {
    if (!run.complete())
      throw StudyError(fmt::format("{}: seed {}: the scenario as it is does not complete: {}",
                                   planner_.subject().scenario, run.seed, run.error.empty() ? run.status : run.error));
    metrics.push_back(objective_.metric_of(run));
    diagnosis.runs.emplace_back(Settings{}, run.id);
  }
  diagnosis.baseline = confidence_interval(metrics);
  base_run_ = as_it_is.front().id;
  base_ = metrics.front();
  const Json result = Json::parse(database_.result_json(base_run_));
  diagnosis.causes_of_messages = has_message_causes(result, objective_);
  for (const CauseOfRun& cause : causes_of_run(result, objective_))
    diagnosis.causes.emplace_back(cause.cause, cause.amount);
  const std::vector<Tried> alone = try_singles();
  const double least = kLeastGain * base_;
  std::vector<Tried> good;
  for (const Tried& tried : alone) {
    if (tried.gain >= least) good.push_back(tried);
  }
  for (const Tried& pair : try_all(pairs_beside(alone))) {
    double best_part = 0;
    for (const Relief& relief : pair.reliefs) best_part = std::max(best_part, known_[settings_of({relief})].gain);
    // The second change has to be worth it beside the first.
    const double more = kLeastGain * (more_ ? base_ + best_part : base_);
    if (pair.reliefs.size() == 2 && pair.gain >= best_part + more) good.push_back(pair);
  }
  const auto environment = [](const Tried& tried) {
    return std::any_of(tried.reliefs.begin(), tried.reliefs.end(),
                       [](const Relief& relief) { return relief.kind == ReliefKind::environment; });
  };
  std::stable_sort(good.begin(), good.end(), [&](const Tried& a, const Tried& b) {
    if (environment(a) != environment(b)) return environment(b);
    return a.gain > b.gain;
  });
  // The same parameters at one node and at all are one remedy where they gain the same.
  std::map<std::set<std::string>, double> listed;
  for (const Tried& tried : good) {
    if (diagnosis.remedies.size() >= kMostRemedies) break;
    const auto [same, first] = listed.try_emplace(parameters_of(tried.reliefs), tried.gain);
    if (!first && same->second - tried.gain < least) continue;
    same->second = tried.gain;
    diagnosis.remedies.push_back(confirm(tried, diagnosis));
  }
  std::erase_if(diagnosis.remedies, [&](const Remedy& remedy) { return remedy.gain.mean < least; });
  if (!diagnosis.remedies.empty()) {
    Remedy& first = diagnosis.remedies.front();
    if (first.reliefs.size() > 1) confirm_singly(first, diagnosis);
    find_smallest(first);
  }
  diagnosis.tried = known_.size();
  return diagnosis;
}

}  // namespace mrc
