#include "mrcsim/attack_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/exit_code.h"
#include "mrcsim/study_options.h"
#include "parameters/input_file.h"
#include "results/output_file.h"
#include "study/attack.h"
#include "study/digest.h"
#include "study/study_error.h"
#include "traffic/flow_csv.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr FileKind kScenarioOfOurs{"a scenario of an attack", "# Written by mrcsim attack"};
constexpr FileKind kFlowsOfOurs{"flows", kFlowCsvHeader};

struct AttackOptions : StudyOptions {
  std::string sizes;
  std::string envelope;
  std::string hold = "goodput>=99%";
  std::string budget = "30m";
  std::size_t most = 0;
  std::string search = "guided";
  std::string out = "out/attack";
  std::string format = "text";
};

Json object_of(const Settings& settings) {
  Json object = Json::object();
  for (const auto& [key, value] : settings) object[key] = value;
  return object;
}

Json object_of(const BufferSizes& sizes) {
  Json object = Json::object();
  for (const auto& [key, value] : sizes) object[key] = value;
  return object;
}

Settings settings_of(const BufferSizes& sizes) {
  Settings settings;
  for (const auto& [key, value] : sizes) settings.emplace_back(key, fmt::format("{}", value));
  return settings;
}

class AttackStudy {
 public:
  explicit AttackStudy(const AttackOptions& options)
      : options_(options),
        objective_(parse_objective(options.hold)),
        planner_({options.scenario, options.assignments}),
        envelope_(options.envelope, planner_),
        sizes_(read_sizes(options.sizes)),
        progress_(!options.quiet && options.format == "text") {
    planner_.scenario(settings_of(sizes_));
    refuse_sized_factors();
    require_known(planner_.scenario({}), objective_, "--hold " + options.hold);
    if (!planner_.scenario({}).traffic.background.empty())
      throw StudyError(options.scenario + ": traffic.background is not supported by attack");
  }

  int run() {
    AttackRequest request{.sizes = sizes_,
                          .objective = objective_,
                          .seeds = options_.seeds,
                          .budget = parse_budget(options_.budget),
                          .most = options_.most,
                          .guided = options_.search == "guided"};
    const fs::path sizes_file = fs::path(options_.out) / "sizes.toml";
    fs::create_directories(options_.out);
    check_writable(sizes_file.string(), kSizesFile);
    database_ = std::make_unique<StudyDatabase>(options_.database);
    const auto campaign = make_campaign(options_, *database_, [&](const StudyProgress&) { show_progress(); });
    const bool timed = request.budget.seconds > 0;
    Attacker attacker(*campaign, planner_, *database_, envelope_, std::move(request));
    attacker_ = &attacker;
    const std::int64_t study = database_->study("attack", options_.scenario, description().dump(), typed_command());
    // Of a budget of time the database keeps how much is used, so that the same command goes on and does not begin
    // anew.
    const AttackResult result =
        attacker.attack(timed ? earlier(study) : Attacker::Earlier{}, [&](const Attacker::Earlier& done) {
          used_ = {{"batches", done.batches}, {"seconds", done.seconds}};
          if (timed) database_->set_answer(study, Json{{"used", used_}}.dump());
        });
    Json answer = json_of(result);
    if (timed) answer["used"] = used_.is_null() ? used_of(study) : used_;
    keep(*database_, study, attacker.runs(), answer);
    write_sizes(sizes_file.string(), settings_of(result.sizes));
    progress_.finish();
    if (options_.format == "json") {
      fmt::print("{}\n", answer.dump(2));
    } else if (!options_.quiet) {
      print(answer);
      fmt::print("study {} in {}: {} runs executed, {} reused\n", study, options_.database, campaign->executed(),
                 campaign->known());
    }
    return kExitOk;
  }

 private:
  void refuse_sized_factors() const {
    for (const auto& [key, value] : sizes_) {
      const bool varied = std::any_of(
          envelope_.factors().begin(), envelope_.factors().end(),
          [&, k = key](const Factor& factor) { return factor.kind == Factor::Kind::parameter && factor.key == k; });
      if (varied)
        throw StudyError(
            fmt::format("{}: {} is varied, and is one of the sizes in {}", options_.envelope, key, options_.sizes));
    }
  }

  Json description() const {
    return {{"sizes", object_of(sizes_)}, {"envelope", envelope_.text()}, {"hold", options_.hold},
            {"seeds", options_.seeds},    {"search", options_.search},    {"set", options_.assignments}};
  }

  Json used_of(std::int64_t study) {
    SqliteStatement statement(database_->sqlite(), "SELECT coalesce(answer, '') FROM study WHERE id = ?1");
    statement.bind(1, study).step();
    const Json answer = Json::parse(statement.text(0), nullptr, false);
    return answer.is_object() ? answer.value("used", Json()) : Json();
  }

  Attacker::Earlier earlier(std::int64_t study) {
    const Json used = used_of(study);
    if (!used.is_object()) return {};
    return {.batches = used.at("batches").get<std::size_t>(), .seconds = used.at("seconds").get<double>()};
  }

  void show_progress() {
    if (attacker_ == nullptr) return;
    progress_.update(attacker_->progress(), fmt::format("{} runs, {} counterexamples", attacker_->runs().size(),
                                                        attacker_->counterexamples()));
  }

  /// Writes the case as a scenario that `mrcsim run` takes; returns its name in the folder.
  std::string write_case(const std::string& name, const AttackPoint& point, const BufferSizes& sizes) {
    const fs::path folder(options_.out);
    AttackCase drawn = envelope_.draw(point);
    for (auto& size : settings_of(sizes)) drawn.settings.push_back(std::move(size));
    std::string trace;
    if (!drawn.flows.empty()) {
      trace = fmt::format("flows_{}.csv", Digest().add(drawn.flows).hex().substr(0, 12));
      write_whole_file((folder / trace).string(), drawn.flows, kFlowsOfOurs);
    }
    const std::string text =
        fmt::format("{}: {} misses {} here\n", kScenarioOfOurs.contains, options_.sizes, options_.hold) +
        scenario_text(planner_.subject(), drawn.settings, drawn.seed, folder.string(), trace);
    const std::string file = name + ".toml";
    write_whole_file((folder / file).string(), text, kScenarioOfOurs);
    return file;
  }

  Json json_of(const TriedCase& tried) const {
    return {{"differences", object_of(envelope_.differences(tried.at))},
            {"score", number_or_null(tried.score)},
            {"reference", number_or_null(tried.reference_score)},
            {"loss", tried.loss}};
  }

  Json json_of(const Counterexample& example, std::size_t number) {
    Json grown = Json::object();
    for (const GrownBuffer& buffer : example.grown) grown[buffer.key] = {{"from", buffer.from}, {"to", buffer.to}};
    Json json = json_of(example.reduced);
    json["found_as"] = json_of(example.found);
    json["after_runs"] = example.after_runs;
    json["file"] = write_case(fmt::format("counterexample_{}", number), example.reduced.at, example.sizes);
    json["sizes"] = object_of(example.sizes);
    json["grown"] = grown;
    json["healed_score"] = number_or_null(example.healed_score);
    return json;
  }

  Json json_of(const SmallerSize& smaller, const BufferSizes& sizes) {
    Json json{{"buffer", smaller.key}, {"size", smaller.size}, {"smaller", smaller.smaller}, {"breaker", nullptr}};
    if (!smaller.breaker) return json;
    BufferSizes changed = sizes;
    for (auto& [key, value] : changed) value = key == smaller.key ? smaller.smaller : value;
    json["breaker"] = json_of(*smaller.breaker);
    json["breaker"]["file"] = write_case("smaller_" + smaller.key, smaller.breaker->at, changed);
    return json;
  }

  Json json_of(const AttackResult& result) {
    Json answer{{"hold", options_.hold},
                {"relative", objective_.relative},
                {"unit", objective_.unit()},
                {"search", options_.search},
                {"runs", result.runs},
                {"cases", result.cases},
                {"not_judged", result.not_judged},
                {"exhausted", result.exhausted},
                {"factors", Json::array()},
                {"given", object_of(sizes_)},
                {"sizes", object_of(result.sizes)},
                {"counterexamples", Json::array()},
                {"smaller", Json::array()},
                {"held_since_growth", result.held_since_growth},
                {"closest", result.closest ? json_of(*result.closest) : Json(nullptr)}};
    for (const Factor& factor : envelope_.factors()) answer["factors"].push_back(factor.name);
    for (std::size_t i = 0; i < result.counterexamples.size(); ++i)
      answer["counterexamples"].push_back(json_of(result.counterexamples[i], i + 1));
    for (const SmallerSize& smaller : result.smaller) answer["smaller"].push_back(json_of(smaller, result.sizes));
    return answer;
  }

  std::string score_text(const Json& score) const {
    if (score.is_null()) return "no end";
    return objective_.relative ? fmt::format("{:.2f} % of unlimited", 100 * score.get<double>())
                               : fmt::format("{:.2f} {}", score.get<double>(), objective_.unit());
  }

  static std::string text_of(const Json& differences) {
    std::string text;
    for (const auto& [key, value] : differences.items())
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value.get<std::string>());
    return text.empty() ? "the scenario as it is" : text;
  }

  std::string path_of(const Json& file) const {
    return shell_quoted((fs::path(options_.out) / file.get<std::string>()).string());
  }

  void print_counterexample(const Json& example, std::size_t number) const {
    fmt::print("counterexample {} after {} runs: {}\n    {}\n", number, example["after_runs"].get<std::size_t>(),
               score_text(example["score"]), text_of(example["differences"]));
    for (const auto& [key, change] : example["grown"].items())
      fmt::print("    {} grows from {} to {}\n", key, change["from"].dump(), change["to"].dump());
    fmt::print("    then {}\n    mrcsim run {}\n", score_text(example["healed_score"]), path_of(example["file"]));
  }

  void print(const Json& answer) const {
    fmt::print("{} sizes, {} factors, {}: {} cases in {} runs\n", answer["sizes"].size(), answer["factors"].size(),
               options_.hold, answer["cases"].dump(), answer["runs"].dump());
    for (std::size_t i = 0; i < answer["counterexamples"].size(); ++i)
      print_counterexample(answer["counterexamples"][i], i + 1);
    if (answer["counterexamples"].empty()) fmt::print("no counterexample found\n");
    fmt::print("sizes ({}):\n", (fs::path(options_.out) / "sizes.toml").string());
    for (const Json& row : answer["smaller"]) {
      const auto key = row["buffer"].get<std::string>();
      const std::string change =
          answer["given"][key] == row["size"] ? "" : fmt::format(" (was {})", answer["given"][key].dump());
      std::string below = "no smaller value is allowed";
      if (row["smaller"] != 0) {
        below = row["breaker"].is_null()
                    ? fmt::format("no case found that breaks {}", row["smaller"].dump())
                    : fmt::format("{} breaks: {}, mrcsim run {}", row["smaller"].dump(),
                                  score_text(row["breaker"]["score"]), path_of(row["breaker"]["file"]));
      }
      fmt::print("    {} = {}{}; {}\n", key, row["size"].dump(), change, below);
    }
    print_searched(answer);
  }

  void print_searched(const Json& answer) const {
    fmt::print("{} cases held these sizes{}", answer["held_since_growth"].dump(),
               answer["exhausted"].get<bool>() ? ", and the envelope has no other" : "");
    if (!answer["closest"].is_null())
      fmt::print("; the closest: {} with {}", score_text(answer["closest"]["score"]),
                 text_of(answer["closest"]["differences"]));
    fmt::print("\n");
    if (answer["not_judged"] != 0)
      fmt::print("{} cases were not judged: their unlimited run missed the objective itself or did not end\n",
                 answer["not_judged"].dump());
    fmt::print("This is evidence, not a proof: other cases of the envelope may break these sizes.\n");
  }

  const AttackOptions& options_;
  Objective objective_;
  RunPlanner planner_;
  Envelope envelope_;
  BufferSizes sizes_;
  ProgressLine progress_;
  std::unique_ptr<StudyDatabase> database_;
  Attacker* attacker_ = nullptr;
  Json used_;
};

}  // namespace

void add_attack_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AttackOptions>();
  CLI::App* command = app.add_subcommand("attack", "Look for cases that break sized buffers, and enlarge these");
  add_study_options(*command, *options, 1);
  command->add_option("--sizes", options->sizes, "TOML file of the sizes (size --all --write-sizes)")->required();
  command
      ->add_option("--envelope", options->envelope, "TOML file of what may happen: parameters, seeds, faults, traffic")
      ->required();
  command->add_option("--hold", options->hold, "what the sizes must keep, as for size; relative to unlimited buffers");
  command->add_option("--budget", options->budget, "wall time or runs: 90s, 30m, 2h, 400runs; default: 30m");
  command->add_option("--most", options->most, "stop after this many counterexamples; default: when the budget is used")
      ->check(CLI::Range(1, 1000));
  command->add_option("--search", options->search, "guided, or random for comparison")
      ->check(CLI::IsMember({"guided", "random"}));
  command->add_option("--out", options->out, "folder for the sizes and the counterexamples; default: out/attack");
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->callback(
      [options, &exit_code] { exit_code = run_study(*options, [&] { return AttackStudy(*options).run(); }); });
}

}  // namespace mrc
