#include "mrcsim/size_command.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/exit_code.h"
#include "mrcsim/study_options.h"
#include "results/output_file.h"
#include "study/buffers.h"
#include "study/causes_of_run.h"
#include "study/joint_sizing.h"
#include "study/sensitivity.h"
#include "study/settings_file.h"
#include "study/sizer.h"
#include "study/study_error.h"
#include "study/text_plot.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAsGiven = "as-given";
constexpr const char* kUnlimited = "unlimited";

struct SizeOptions : StudyOptions {
  std::vector<std::string> buffers;
  std::vector<std::string> hold{"goodput>=99%"};
  std::string others = kAsGiven;
  std::vector<std::string> also;
  bool assumptions = false;
  bool sensitivity = false;
  bool all = false;
  std::string write_sizes;
};

Json json_of(const SizingPoint& p, const SizingResult& result) {
  return {{"value", p.value},
          {"mean", number_or_null(p.score.mean)},
          {"low", number_or_null(p.score.low)},
          {"high", number_or_null(p.score.high)},
          {"holds", p.holds},
          {"goodput_gbps", p.goodput_gbps},
          {"message_time_p99_us", p.message_time_p99_us},
          {"simulated_time_us", p.simulated_time_us},
          {"complete", p.complete},
          {"sram_bits", p.sram_bits},
          {"buffer_bits", p.buffer_bits},
          {"scenario", p.scenario},
          {"cause", p.cause},
          {result.causes_of_messages ? "cause_us" : "cause_gbps", p.cause_more}};
}

std::string score_text(const Objective& objective, double score) {
  return objective.relative ? fmt::format("{:.2f} %", 100 * score) : fmt::format("{:.2f} {}", score, objective.unit());
}

/// One line where seeds say more about the answer than the buffer does; otherwise empty.
std::string noise_line(const SizingResult& result) {
  if (!result.noise_dominates()) return "";
  constexpr std::uint32_t more = 4;
  const Objective& objective = result.request.objectives.first();
  const Interval& score = result.point()->score;
  return fmt::format(
      "noise dominates this answer: over {} seeds it is {} … {} where {} is asked for, so that sizes from {} to {} "
      "cannot be told apart; more seeds narrow that: --seeds {}",
      result.request.seeds, score_text(objective, score.low), score_text(objective, score.high),
      score_text(objective, objective.threshold), result.answer_low, result.answer_high, more * result.request.seeds);
}

Json json_of(const SizingResult& result) {
  Json answer{{"buffer", result.request.key},
              {"hold", result.request.objectives.text()},
              {"threshold", result.request.objectives.first().threshold},
              {"relative", result.request.objectives.first().relative},
              {"unit", result.request.objectives.first().unit()},
              {"seeds", result.request.seeds},
              {"answer", result.answer ? Json(*result.answer) : Json(nullptr)},
              {"answer_low", result.answer_low},
              {"answer_high", result.answer_high},
              {"resolution", result.resolution},
              {"scanned", result.scanned},
              {"noise_dominates", result.noise_dominates()},
              {"noise", noise_line(result)},
              {"why_none", result.why_none},
              {"reference", json_of(result.reference, result)},
              {"references", Json::array()},
              {"curve", Json::array()}};
  for (const SizingReference& reference : result.references) {
    Json row{{"scenario", reference.scenario},
             {"goodput_gbps", reference.goodput_gbps},
             {"message_time_p99_us", reference.message_time_p99_us},
             {"causes", Json::array()}};
    const char* unit = result.causes_of_messages ? "us" : "gbps";
    for (const auto& [cause, amount] : reference.causes) row["causes"].push_back({{"cause", cause}, {unit, amount}});
    answer["references"].push_back(std::move(row));
  }
  for (const auto& [value, point] : result.curve) answer["curve"].push_back(json_of(point, result));
  return answer;
}

Json description(const SizeOptions& options, const std::string& buffer) {
  Json hold = options.hold;
  if (options.hold.size() == 1) hold = options.hold.front();
  Json text{{"buffer", buffer}, {"hold", hold}, {"seeds", options.seeds}, {"set", options.assignments}};
  if (options.others != kAsGiven) text["others"] = options.others;
  if (!options.also.empty()) text["also"] = options.also;
  return text;
}

std::string bits_text(std::uint64_t bits) {
  if (bits < 100'000) return fmt::format("{} bit", bits);
  return bits < 100'000'000 ? fmt::format("{:.1f} kbit", static_cast<double>(bits) / 1e3)
                            : fmt::format("{:.1f} Mbit", static_cast<double>(bits) / 1e6);
}

void print_curve(const SizingResult& result) {
  const Objective& objective = result.request.objectives.first();
  const std::string_view unit = unit_of_causes(result.causes_of_messages);
  std::vector<TextPlotPoint> plotted;
  fmt::print("{:>12} {:>12} {:>23} {:>11} {:>11}  {}\n", "value", objective.relative ? "of unlimited" : "metric",
             "95 % interval", "buffer", "all SRAM", "largest cause, relative to the unlimited run");
  for (const auto& [value, point] : result.curve) {
    const bool is_answer = result.answer == value;
    const std::string interval =
        fmt::format("{} … {}", score_text(objective, point.score.low), score_text(objective, point.score.high));
    std::string cause = point.cause_more > 0.05 ? fmt::format("{} {:.1f} {}", point.cause, point.cause_more, unit)
                        : point.complete < result.request.seeds ? point.cause
                                                                : "";
    if (result.references.size() > 1) cause = fmt::format("{}: {}", point.scenario, cause);
    fmt::print("{:>12} {:>12} {:>23} {:>11} {:>11}  {}{}\n", value, score_text(objective, point.score.mean), interval,
               bits_text(point.buffer_bits), bits_text(point.sram_bits), cause,
               is_answer ? (cause.empty() ? "<- smallest that holds" : "  <- smallest that holds") : "");
    // What lies far right of the answer is flat; the plot shows the knee.
    if (!result.answer || value <= 16 * *result.answer)
      plotted.push_back(
          {std::max(1.0, static_cast<double>(value)), (objective.relative ? 100 : 1) * point.score.mean, point.holds});
  }
  fmt::print("\n{}\n", text_plot(plotted, (objective.relative ? 100 : 1) * objective.threshold,
                                 result.answer ? static_cast<double>(*result.answer) : 0, result.request.key,
                                 objective.relative ? "% of the unlimited run" : objective.unit()));
}

/// What the unlimited runs give and what limits them: a size does not give more than its reference.
void print_references(const SizingResult& result) {
  constexpr double worth_naming = 0.02;
  for (const SizingReference& reference : result.references) {
    if (reference.causes.empty()) continue;
    const auto& [cause, amount] = reference.causes.front();
    const std::string name = result.references.size() > 1 ? reference.scenario + ": " : "";
    const bool of_messages = result.causes_of_messages;
    fmt::print("reference: {}{} = {}: {:.1f} Gb/s, p99 {:.2f} us; {} by {} ({:.1f} {})\n", name, result.request.key,
               result.unlimited, reference.goodput_gbps, reference.message_time_p99_us,
               of_messages ? "the slowest percent is delayed most" : "limited", cause, amount,
               unit_of_causes(of_messages));
    if (of_messages || amount < worth_naming * reference.goodput_gbps) continue;
    fmt::print(
        "  it is throttled by something else than this buffer: the answer is the size for {:.1f} Gb/s, not for "
        "line rate{}\n",
        reference.goodput_gbps,
        result.request.context.empty() ? " (--others unlimited takes the limits of other buffers away)" : "");
  }
}

void print_answer(const SizingResult& result) {
  print_references(result);
  if (!result.answer) {
    fmt::print("{}: no size holds {}: {}\n", result.request.key, result.request.objectives.text(), result.why_none);
    return;
  }
  const SizingPoint& point = *result.point();
  fmt::print("{} = {} holds {} ({} of unlimited; 95 % interval {} … {}{}); {} of SRAM\n", result.request.key,
             *result.answer, result.request.objectives.text(),
             score_text(result.request.objectives.first(), point.score.mean), result.answer_low, result.answer_high,
             result.scanned ? "; the curve is not monotonic: scanned, all larger values that were tried also hold" : "",
             bits_text(point.buffer_bits));
  if (const std::string noise = noise_line(result); !noise.empty()) fmt::print("  {}\n", noise);
  if (result.resolution > 1) fmt::print("  the next smaller value that was tried is lower by {}\n", result.resolution);
  const auto at = result.curve.find(*result.answer);
  if (at != result.curve.begin()) {
    const SizingPoint& below = std::prev(at)->second;
    fmt::print("  below it the loss is {}{}\n", below.cause.empty() ? "spread" : below.cause,
               below.cause_more > 0 ? fmt::format(" (+{:.1f} {} at {})", below.cause_more,
                                                  unit_of_causes(result.causes_of_messages), below.value)
                                    : "");
  }
}

void check_sizes_file(const std::string& path, bool all) {
  if (!all) throw StudyError("--write-sizes: needs --all");
  check_writable(path, kSizesFile);
}

class SizeStudy {
 public:
  explicit SizeStudy(const SizeOptions& options)
      : options_(options),
        objectives_(parse_objectives(options.hold)),
        planner_({options.scenario, with_causes_of(objectives_.first(), options.assignments)}),
        progress_(!options.quiet) {
    for (const std::string& scenario : options.also)
      further_.emplace_back(RunSubject{scenario, planner_.subject().assignments});
    scenarios_.push_back(&planner_);
    for (const RunPlanner& planner : further_) scenarios_.push_back(&planner);
  }

  int run() {
    std::vector<std::string> buffers = options_.buffers;
    if (options_.all && buffers.empty()) buffers = buffer_keys(planner_.scenario({}));
    if (buffers.empty()) throw StudyError("size: needs --buffer KEY or --all");
    require_known_figures();
    if (!options_.write_sizes.empty()) check_sizes_file(options_.write_sizes, options_.all);
    if (!options_.all && buffers.size() > 1) throw StudyError("size: several buffers need --all");
    for (const std::string& buffer : buffers) size_of_key(buffer);
    if (options_.others == kUnlimited) context_ = unlimited_buffers(planner_, buffers);
    for (const RunPlanner* planner : scenarios_) {
      for (const RunSpec& spec : planner->specs({}, options_.seeds)) (void)spec;
    }
    if (options_.sensitivity && scenarios_.size() > 1) throw StudyError("size: --sensitivity takes one scenario");
    if (options_.assumptions && scenarios_.size() > 1) throw StudyError("size: --assumptions takes one scenario");
    database_ = std::make_unique<StudyDatabase>(options_.database);
    StudyOptions with_causes = options_;
    with_causes.assignments = planner_.subject().assignments;
    campaign_ = make_campaign(with_causes, *database_, progress_);
    if (options_.all && !options_.quiet) {
      fmt::print(
          "Each buffer alone, the others as they are. Not the sizes to build: together they may miss what each holds "
          "alone.\n");
    }
    std::vector<SizingResult> results;
    for (const std::string& buffer : buffers) results.push_back(size(buffer));
    if (options_.all) return all_together(results);
    if (options_.assumptions && results.front().answer) widen_by_assumptions(results.front());
    if (options_.sensitivity && results.front().answer) rank_assumptions(results.front());
    return results.front().answer ? kExitOk : kExitStalled;
  }

 private:
  void require_known_figures() {
    for (const RunPlanner* planner : scenarios_) {
      for (const Objective& objective : objectives_.all)
        require_known(planner->scenario({}), objective, "--hold " + objective.text);
    }
  }

  SizingResult size(const std::string& buffer) {
    Sizer sizer(*campaign_, scenarios_, *database_,
                {.key = buffer, .objectives = objectives_, .seeds = options_.seeds, .context = context_});
    const SizingResult result = sizer.size();
    const std::int64_t study =
        database_->study("size", options_.scenario, description(options_, buffer).dump(), typed_command());
    keep(*database_, study, sizer.runs(), json_of(result));
    progress_.finish();
    if (options_.quiet) return result;
    if (!options_.all) print_curve(result);
    print_answer(result);
    if (!options_.all) {
      fmt::print("study {} in {}: {} runs executed, {} reused; charts: mrcsim report {}\n", study, options_.database,
                 campaign_->executed(), campaign_->known(), options_.database);
    }
    return result;
  }

  void show_assumption(std::size_t done, std::size_t of) {
    progress_.update(static_cast<double>(done) / static_cast<double>(of), fmt::format("assumption {} of {}", done, of));
  }

  static Json json_of_rows(const std::vector<SensitivityRow>& rows) {
    Json all = Json::array();
    for (const SensitivityRow& row : rows) {
      all.push_back({{"parameter", row.parameter},
                     {"usual", row.usual},
                     {"value", row.value},
                     {"answer", row.answer ? Json(*row.answer) : Json(nullptr)},
                     {"why_none", row.why_none}});
    }
    return all;
  }

  void widen_by_assumptions(const SizingResult& base) {
    const AssumedInterval interval = assumed_interval(
        *campaign_, planner_, *database_, base, [&](std::size_t done, std::size_t of) { show_assumption(done, of); });
    progress_.finish();
    const Json answer{{"buffer", base.request.key},
                      {"answer", *base.answer},
                      {"answer_low", interval.low},
                      {"answer_high", interval.high},
                      {"rows", json_of_rows(interval.rows)}};
    const std::int64_t study = database_->study("assumptions", options_.scenario,
                                                description(options_, base.request.key).dump(), typed_command());
    database_->set_answer(study, answer.dump());
    if (options_.quiet) return;
    fmt::print("over the seeds and the plausible ranges of the assumptions, one at a time: {} … {}; study {}\n",
               interval.low, interval.high, study);
    for (const SensitivityRow& row : interval.rows) {
      fmt::print("{:>10}  {} = {} instead of {}{}\n", row.answer ? fmt::format("{}", *row.answer) : "none",
                 row.parameter, row.value, row.usual, row.answer ? "" : "  (" + row.why_none + ")");
    }
    if (interval.rows.empty()) fmt::print("  no assumption moves it\n");
  }

  void rank_assumptions(const SizingResult& base) {
    const auto rows = sensitivity(*campaign_, planner_, *database_, base,
                                  [&](std::size_t done, std::size_t of) { show_assumption(done, of); });
    progress_.finish();
    const Json answer{{"buffer", base.request.key}, {"answer", *base.answer}, {"rows", json_of_rows(rows)}};
    const std::int64_t study = database_->study("sensitivity", options_.scenario,
                                                description(options_, base.request.key).dump(), typed_command());
    database_->set_answer(study, answer.dump());
    if (options_.quiet) return;
    fmt::print("\nSensitivity of the answer {} to the assumptions, each varied alone over its registered range:\n",
               *base.answer);
    fmt::print("{:>10}  {:<44} {:>14} -> {}\n", "answer", "assumption", "usual", "set to");
    std::size_t same = 0;
    for (const SensitivityRow& row : rows) {
      if (row.answer == base.answer) {
        ++same;
        continue;
      }
      fmt::print("{:>10}  {:<44} {:>14} -> {}{}\n", row.answer ? fmt::format("{}", *row.answer) : "none", row.parameter,
                 row.usual, row.value, row.answer ? "" : "  (" + row.why_none + ")");
    }
    fmt::print("{} settings change the answer, {} do not; study {}\n", rows.size() - same, same, study);
  }

  static Json json_of_sizes(const Settings& sizes) {
    Json json = Json::object();
    for (const auto& [key, value] : sizes) json[key] = std::stoll(value);
    return json;
  }

  int all_together(const std::vector<SizingResult>& single) {
    JointSizing joint(*campaign_, scenarios_, *database_, single);
    const std::vector<JointPoint> points = joint.solve();
    progress_.finish();
    const JointPoint* best = JointSizing::best(points);
    Json answer{{"hold", objectives_.text()}, {"buffers", Json::array()}, {"points", Json::array()}};
    for (const SizingResult& result : single)
      answer["buffers"].push_back(
          {{"buffer", result.request.key}, {"answer", result.answer ? Json(*result.answer) : Json(nullptr)}});
    answer["build"] = best != nullptr ? json_of_sizes(best->sizes) : Json(nullptr);
    std::vector<std::pair<Settings, std::int64_t>> runs;
    for (const JointPoint& point : points) {
      answer["points"].push_back({{"sizes", json_of_sizes(point.sizes)},
                                  {"sram_bits", point.sram_bits},
                                  {"goodput_gbps", point.goodput_gbps},
                                  {"message_time_p99_us", point.message_time_p99_us},
                                  {"score", number_or_null(point.score)},
                                  {"holds", point.holds},
                                  {"unseen_seeds", point.unseen_seeds},
                                  {"unseen_held", point.unseen_held},
                                  {"front", point.front},
                                  {"best", &point == best}});
      for (const std::int64_t run : point.runs) runs.emplace_back(point.sizes, run);
    }
    const std::int64_t study =
        database_->study("all", options_.scenario, description(options_, "").dump(), typed_command());
    keep(*database_, study, runs, answer);
    if (!options_.quiet) print_joint(points, best, study);
    if (best != nullptr && !options_.write_sizes.empty()) write_sizes(options_.write_sizes, best->sizes);
    return best != nullptr ? kExitOk : kExitStalled;
  }

  void print_joint(const std::vector<JointPoint>& points, const JointPoint* best, std::int64_t study) {
    fmt::print(
        "\nAll buffers together, {} sets tried. Not the sizes to build either, unless marked: sets that are not "
        "dominated in SRAM, goodput and p99:\n",
        points.size());
    fmt::print("{:>12} {:>10} {:>10}  {}\n", "SRAM", "Gb/s", "p99 us", "holds");
    for (const JointPoint& point : points) {
      if (!point.front) continue;
      fmt::print("{:>12} {:>10.1f} {:>10.2f}  {}{}\n", bits_text(point.sram_bits), point.goodput_gbps,
                 point.message_time_p99_us, point.holds ? "yes" : "no",
                 &point == best ? "   <- to build: holds " + objectives_.text() + ", also on further seeds" : "");
    }
    if (best == nullptr) {
      fmt::print("no set holds {}\n", objectives_.text());
    } else {
      fmt::print(
          "\nSizes to build: the least SRAM found that holds {}, confirmed on {} of {} seeds that nothing was chosen "
          "by:\n",
          objectives_.text(), best->unseen_held, best->unseen_seeds);
      for (const auto& [key, value] : best->sizes) fmt::print("  --set {}={}\n", key, value);
    }
    fmt::print("study {} in {}: {} runs executed, {} reused\n", study, options_.database, campaign_->executed(),
               campaign_->known());
  }

  const SizeOptions& options_;
  Objectives objectives_;
  Settings context_;  ///< in all runs
  RunPlanner planner_;
  std::deque<RunPlanner> further_;
  SizingScenarios scenarios_;
  ProgressLine progress_;
  std::unique_ptr<StudyDatabase> database_;
  std::unique_ptr<Campaign> campaign_;
};

}  // namespace

void add_size_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SizeOptions>();
  CLI::App* command = app.add_subcommand("size", "Find the smallest buffer that holds goodput, p99 or step time");
  add_study_options(*command, *options, 3);
  command->add_option("--buffer", options->buffers, "parameter of the buffer; with --all: size only these buffers")
      ->take_all();
  command->add_option("--also", options->also, "further scenarios in which every size must hold; the worst counts")
      ->take_all();
  command
      ->add_option("--others", options->others,
                   "the buffers that are not sized: as the scenario has them, or without limit")
      ->check(CLI::IsMember({kAsGiven, kUnlimited}));
  command
      ->add_option(
          "--hold", options->hold,
          "goodput>=99% (relative to the same run with this buffer unlimited) or goodput>=700 (Gb/s); p99<=110% or "
          "p99<=200 (us, message time); step<=105% or step<=5000 (us, whole run); refusals=0 (of the sized buffers), "
          "drops=0, nacks=0; may be repeated: all must hold, the curve is of the first that is not a count")
      ->take_all();
  command->add_flag("--assumptions", options->assumptions,
                    "widen the interval by the plausible ranges of what nobody has published (host, PCIe, cables)");
  command->add_flag("--sensitivity", options->sensitivity, "rank the assumptions by their effect on the answer");
  command->add_flag("--all", options->all, "size each buffer in turn, then all together: SRAM against goodput and p99");
  command->add_option("--write-sizes", options->write_sizes,
                      "with --all: write the least SRAM that holds to this TOML file, for mrcsim attack");
  command->callback(
      [options, &exit_code] { exit_code = run_study(*options, [&] { return SizeStudy(*options).run(); }); });
}

}  // namespace mrc
