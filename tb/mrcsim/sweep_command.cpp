#include "mrcsim/sweep_command.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mrcsim/exit_code.h"
#include "mrcsim/study_options.h"
#include "study/interruption.h"
#include "study/run_planner.h"
#include "study/study_error.h"

namespace mrc {
namespace {

struct SweepOptions : StudyOptions {
  std::vector<std::string> vary;
  std::string design = "full";
  std::uint32_t points = 0;
};

std::string description(const SweepOptions& options) {
  return nlohmann::ordered_json{{"vary", options.vary},
                                {"seeds", options.seeds},
                                {"design", options.design},
                                {"points", options.points},
                                {"set", options.assignments}}
      .dump();
}

std::vector<Settings> points_of(const SweepOptions& options, std::uint64_t seed) {
  std::vector<Axis> axes;
  for (const std::string& text : options.vary) axes.push_back(parse_axis(text));
  if (options.design == "full") return full_design(axes);
  if (options.points == 0) throw StudyError("--design lhs: needs --points N");
  return latin_hypercube(axes, options.points, seed);
}

/// Names what did not end well; returns the exit code of the first such run.
int report_failures(const std::vector<RunSpec>& specs, const std::vector<RunRecord>& records) {
  constexpr std::size_t most = 10;
  std::size_t bad = 0;
  int code = kExitOk;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RunRecord& run = records[i];
    if (run.state == "done" && run.exit_code == kExitOk) continue;
    if (code == kExitOk) code = run.exit_code != 0 && run.exit_code < 128 ? run.exit_code : kExitBug;
    if (++bad > most) continue;
    fmt::print(stderr, "mrcsim: {} seed {}: {}\n", to_string(specs[i].settings), run.seed, run.error);
  }
  if (bad > most) fmt::print(stderr, "mrcsim: and {} more runs without a complete result\n", bad - most);
  return code;
}

void print_table(StudyDatabase& database, std::int64_t study) {
  constexpr int most = 60;
  SqliteStatement count(database.sqlite(), "SELECT count(*) FROM points WHERE study_id = ?1");
  count.bind(1, study).step();
  SqliteStatement rows(
      database.sqlite(),
      "SELECT settings, runs, complete, goodput_gbps, goodput_min_gbps, goodput_max_gbps, "
      "message_time_p99_us, simulated_time_us, top_limit FROM points WHERE study_id = ?1 ORDER BY point");
  rows.bind(1, study);
  fmt::print("{:>10} {:>17} {:>12} {:>12}  {:<28} {}\n", "goodput", "min … max Gb/s", "p99 us", "time us",
             "first limit", "settings");
  for (int i = 0; i < most && rows.step(); ++i) {
    const bool all = rows.integer(1) == rows.integer(2);
    fmt::print("{:>10.1f} {:>17} {:>12.2f} {:>12.1f}  {:<28} {}{}\n", rows.real(3),
               fmt::format("{:.1f} … {:.1f}", rows.real(4), rows.real(5)), rows.real(6), rows.real(7), rows.text(8),
               rows.text(0), all ? "" : fmt::format("  ({} of {} complete)", rows.integer(2), rows.integer(1)));
  }
  if (count.integer(0) > most) fmt::print("… {} more points\n", count.integer(0) - most);
}

int sweep(const SweepOptions& options) {
  // All that can be wrong is found before the database is touched.
  const RunPlanner planner({options.scenario, options.assignments});
  const std::vector<Settings> points = points_of(options, planner.first_seed());
  if (points.size() * options.seeds > kMostRunsOfAStudy) {
    throw StudyError(
        fmt::format("{} points with {} seeds are more than {} runs", points.size(), options.seeds, kMostRunsOfAStudy));
  }
  catch_interruption();
  ProgressLine progress(!options.quiet);
  std::vector<RunSpec> specs;
  for (const Settings& point : points) {
    progress.update(static_cast<double>(specs.size()) / static_cast<double>(points.size() * options.seeds),
                    "of the runs planned");
    check_interruption();
    for (RunSpec& spec : planner.specs(point, options.seeds)) specs.push_back(std::move(spec));
  }
  StudyDatabase database(options.database);
  const auto campaign = make_campaign(options, database, progress);
  const std::int64_t study = database.study("sweep", options.scenario, description(options), typed_command());
  database.sqlite().execute("BEGIN");
  database.forget_points(study);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const RunRecord run = database.plan(specs[i], own_build());
    database.add_to_study(study, static_cast<std::int64_t>(i / options.seeds), specs[i].settings, run.id);
  }
  database.sqlite().execute("COMMIT");
  const auto records = campaign->run(specs);
  progress.finish();
  if (!options.quiet) {
    print_table(database, study);
    fmt::print("study {}: {} points, {} runs: {} executed, {} reused from {}\n", study, points.size(), specs.size(),
               campaign->executed(), campaign->known(), options.database);
  }
  return report_failures(specs, records);
}

}  // namespace

void add_sweep_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "Run a scenario at many parameter values and store the results in SQLite");
  add_study_options(*command, *options, 1);
  command
      ->add_option("--vary", options->vary,
                   "key=a,b,c or key=lo..hi:xF (times F) or key=lo..hi:+S (plus S); may be repeated")
      ->required()
      ->take_all()
      ->expected(1, -1);
  command->add_option("--design", options->design, "full: every combination; lhs: Latin hypercube of --points")
      ->check(CLI::IsMember({"full", "lhs"}));
  command->add_option("--points", options->points, "with --design lhs")->check(CLI::Range(1U, kMostRunsOfAStudy));
  command->callback([options, &exit_code] { exit_code = run_study(*options, [&] { return sweep(*options); }); });
}

}  // namespace mrc
