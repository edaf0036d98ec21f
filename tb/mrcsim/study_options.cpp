#include "mrcsim/study_options.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "mrcsim/command_line.h"
#include "mrcsim/exit_code.h"
#include "parameters/input_file.h"
#include "study/interruption.h"
#include "study/local_pool.h"
#include "study/slurm_array.h"
#include "study/study_error.h"

namespace mrc {
namespace {

std::unique_ptr<Executor> make_executor(const StudyOptions& options) {
  if (options.on == "slurm") {
    return std::make_unique<SlurmArray>(Campaign::folder_of(options.database), options.sbatch, options.jobs);
  }
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::make_unique<LocalPool>(options.jobs > 0 ? options.jobs : cores, run_command_line);
}

std::string describe(const StudyProgress& p) {
  return fmt::format("{} of {} runs done, {} running{}", p.done, p.wanted, p.running,
                     p.failed > 0 ? fmt::format(", {} failed", p.failed) : "");
}

}  // namespace

void add_study_options(CLI::App& command, StudyOptions& options, std::uint32_t default_seeds) {
  options.seeds = default_seeds;
  command.add_option("SCENARIO", options.scenario, "scenario file (TOML)")->required();
  command.add_option("--set", options.assignments, "key=value for all runs; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command
      .add_option(
          "--seeds", options.seeds,
          fmt::format("runs per point, with consecutive seeds from that of the scenario; default: {}", default_seeds))
      ->check(CLI::Range(1, 10'000));
  command.add_option("-j,--jobs", options.jobs, "runs at a time; default: one per core, or no limit on a cluster")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--db", options.database, "SQLite file for the runs; default: out/study.sqlite");
  command.add_option("--on", options.on, "local: processes on this machine; slurm: a job array")
      ->check(CLI::IsMember({"local", "slurm"}));
  command.add_option("--sbatch", options.sbatch, "with --on slurm: an option for sbatch, may be repeated")->take_all();
  command.add_flag("--quiet", options.quiet, "no table, no progress");
}

std::string typed_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command("mrcsim");
  std::string argument;
  std::getline(file, argument, '\0');
  while (std::getline(file, argument, '\0')) command += " " + shell_quoted(argument);
  return command;
}

std::string typed_executable() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return shell_quoted(name.empty() ? "mrcsim" : name);
}

std::unique_ptr<Campaign> make_campaign(const StudyOptions& options, StudyDatabase& database,
                                        Campaign::OnProgress on_progress) {
  catch_interruption();
  return std::make_unique<Campaign>(options.assignments, database, make_executor(options), std::move(on_progress));
}

std::unique_ptr<Campaign> make_campaign(const StudyOptions& options, StudyDatabase& database, ProgressLine& progress) {
  return make_campaign(options, database, [&progress](const StudyProgress& p) {
    // A batch of runs begins: those of earlier batches say nothing of its size.
    if (p.done == 0 && p.running == 0) progress.restart();
    progress.update(p.wanted == 0 ? 1.0 : double(p.done) / double(p.wanted), describe(p));
  });
}

void keep(StudyDatabase& database, std::int64_t study, const std::vector<std::pair<Settings, std::int64_t>>& runs,
          const nlohmann::ordered_json& answer) {
  database.sqlite().execute("BEGIN");
  database.forget_points(study);
  std::map<Settings, std::int64_t> points;
  for (const auto& [settings, run] : runs) {
    const auto [point, added] = points.try_emplace(settings, static_cast<std::int64_t>(points.size()));
    database.add_to_study(study, point->second, settings, run);
  }
  database.set_answer(study, answer.dump());
  database.sqlite().execute("COMMIT");
}

int run_study(const StudyOptions& options, const std::function<int()>& body) {
  try {
    return body();
  } catch (const StudyInterrupted&) {
    fmt::print(stderr, "\nmrcsim: interrupted; finished runs are in {}; the same command continues from there\n",
               options.database);
    return kExitInterrupted;
  }
}

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace mrc
