#include "mrcsim/run_command.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cosim/srv6_encap_rtl.h"
#include "ideal/ideal_fabric.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/progress.h"
#include "mrcsim/rtl_selection.h"
#include "parameters/scenario.h"
#include "results/output_directory.h"
#include "results/result_json.h"
#include "results/summary.h"
#include "simulation.h"
#include "traffic/prepare_job.h"

namespace mrc {
namespace {

using Clock = std::chrono::steady_clock;

/// Wall time is that of the whole process: this is set before main begins.
const Clock::time_point process_start = Clock::now();

std::atomic<bool> interrupted{false};

struct RunOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::optional<std::uint64_t> seed;
  std::string out;
  std::string rtl;
  std::string shadow;
  std::string pcap;
  bool quiet = false;
  bool yes = false;
};

/// Detailed nodes carry from 0.1 to 1 million packets a second of wall time; what a run expects is at this rate.
constexpr double kPacketsPerSecond = 300'000;
constexpr double kMostSecondsUnasked = 600;

class TooLong : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

void announce(const ScenarioConfig& scenario, const Job& job, const RunOptions& options) {
  if (scenario.transport == "ideal") return;
  const std::uint64_t packets = expected_packets(job.workload, scenario.protocol.mtu_bytes);
  const double seconds = static_cast<double>(packets) / kPacketsPerSecond;
  const std::string text = fmt::format("{} data packets, about {:.0f} s of wall time at {:.0f} packets/s", packets,
                                       seconds, kPacketsPerSecond);
  if (seconds > kMostSecondsUnasked && !options.yes) {
    throw TooLong(
        fmt::format("{}: expects {}; --yes runs it, and traffic.ranks, traffic.rows and traffic.byte_scale cut "
                    "it to size",
                    options.scenario, text));
  }
  if (!options.quiet) fmt::print("  {:<10} {}\n", "expects", text);
  std::fflush(stdout);
}

const char* why_without_details(RunStatus status) {
  return status == RunStatus::partial ? "interrupted" : "no node can say what it waits for";
}

RunResult simulate(const ScenarioConfig& scenario, const Job& job, SimulationOptions options) {
  Simulation simulation(scenario, job.workload, job.node_of_rank, std::move(options));
  return simulation.run(interrupted);
}

int run(const RunOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, options.seed});
  const Job job = prepare_job(scenario, options.scenario);
  for (const std::string& warning : job.warnings) fmt::print(stderr, "mrcsim: warning: {}\n", warning);
  const OutputDirectory out(options.out.empty() ? fmt::format("out/{}-{}", scenario.name, scenario.seed) : options.out);
  announce(scenario, job, options);
  ProgressLine progress(!options.quiet);
  SimulationOptions simulation_options;
  simulation_options.rtl = parse_rtl_selections(options.rtl, options.shadow, scenario.fabric.nics);
  simulation_options.make_srv6_encap = make_srv6_encap_rtl;
  simulation_options.pcap = options.pcap;
  simulation_options.progress = [&](const Progress& p) { progress.update(p); };
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });

  RunResult result = scenario.transport == "ideal" ? run_ideal(scenario, job.workload, job.node_of_rank, interrupted)
                                                   : simulate(scenario, job, std::move(simulation_options));
  result.job.cut = job.cut;
  out.write("series.json", series_json(result));
  out.write("result.json", result_json(result, scenario));
  result.cost.wall_seconds = std::chrono::duration<double>(Clock::now() - process_start).count();
  progress.finish();
  if (!options.quiet) {
    fmt::print("{}", summary(result, isatty(STDOUT_FILENO) != 0));
    fmt::print("  {:<10} {}/result.json\n", "results", out.path());
  }
  const int code = exit_code(result.status, interrupted.load());
  if (code != kExitOk) {
    fmt::print(stderr, "mrcsim: {}: {}\n", to_string(result.status),
               result.details.empty() ? why_without_details(result.status) : result.details.front());
  }
  return code;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a scenario and write its result");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML)")->required();
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command->add_option("--seed", options->seed, "seed of all random draws, 0 or more")->check(CLI::NonNegativeNumber);
  command->add_option("--out", options->out, "folder for the results; default: out/<scenario>-<seed>");
  command->add_option("--rtl", options->rtl, "BLOCK[@NODE],…: Verilated RTL in the place of these blocks");
  command->add_option("--shadow", options->shadow, "BLOCK[@NODE],…: Verilated RTL beside these blocks, compared");
  command->add_option("--pcap", options->pcap, "capture every packet at every port as pcapng (docs/wireshark)");
  command->add_flag("--yes", options->yes, "run even if more than 10 minutes of wall time are expected");
  command->add_flag("--quiet", options->quiet, "no summary, no progress");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
