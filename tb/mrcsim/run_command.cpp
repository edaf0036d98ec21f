#include "mrcsim/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cosim/rtl_blocks.h"
#include "ideal/ideal_fabric.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/progress.h"
#include "mrcsim/rtl_selection.h"
#include "parameters/registry.h"
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
  std::string waves;
  std::vector<std::string> wave_nodes;
  std::string wave_window;
  std::string perfetto;
  std::string perfetto_packets;
  bool quiet = false;
  bool yes = false;
};

/// Chosen, not measured: nodes carry from 0.1 (detailed, bytes copied) to 1 million packets a second of wall time.
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
  const std::string text = fmt::format("{} data packets, about {:.0f} s of wall time at an assumed {:.0f} packets/s",
                                       packets, seconds, kPacketsPerSecond);
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
  Simulation simulation(scenario, job.workload, job.nics_of_ranks, std::move(options));
  return simulation.run(interrupted);
}

WaveOptions wave_options(const RunOptions& options, const ScenarioConfig& scenario) {
  WaveOptions waves;
  waves.path = options.waves;
  if (waves.path.empty()) {
    if (options.wave_nodes.empty() && options.wave_window.empty()) return waves;
    throw OutputError("--wave-nodes and --wave-window say what --waves FILE holds; FILE is missing");
  }
  if (!options.wave_window.empty()) std::tie(waves.from_ps, waves.to_ps) = parse_wave_window(options.wave_window);
  std::vector<std::string> known{"fabric"};
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) known.push_back(fmt::format("nic{}", node));
  for (const std::string& name : options.wave_nodes) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw OutputError(fmt::format("--wave-nodes {}: no such node; nearest: {} (nic0 to nic{} and fabric)", name,
                                    nearest(name, known), scenario.fabric.nics - 1));
    }
    waves.nodes.push_back(name);
  }
  if (waves.nodes.empty()) waves.nodes = {scenario.run.node_under_test, "fabric"};
  for (const std::string& name : waves.nodes) {
    if (name == "fabric" ||
        scenario.node(static_cast<NodeId>(std::stoul(name.substr(3)))).fidelity == Fidelity::detailed) {
      continue;
    }
    throw OutputError(
        fmt::format("--wave-nodes {}: is a light endpoint without boxes (fidelity = \"endpoint\")", name));
  }
  return waves;
}

PerfettoOptions perfetto_options(const RunOptions& options) {
  PerfettoOptions perfetto{.path = options.perfetto};
  if (options.perfetto_packets.empty()) return perfetto;
  if (perfetto.path.empty()) throw OutputError("--perfetto-packets says what --perfetto FILE holds; FILE is missing");
  perfetto.packets_one_in = parse_packet_sampling(options.perfetto_packets);
  return perfetto;
}

Job read_job(const ScenarioConfig& scenario, const RunOptions& options) {
  ProgressLine progress(!options.quiet);
  return prepare_job(scenario, options.scenario, [&](double share) { progress.update(share, "of the trace read"); });
}

int run(const RunOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, options.seed});
  const Job job = read_job(scenario, options);
  for (const std::string& warning : job.warnings) fmt::print(stderr, "mrcsim: warning: {}\n", warning);
  if (!options.pcap.empty() && scenario.is_rocev2()) {
    throw ParameterError("--pcap", "transport = \"rocev2\" is not captured; captures speak MRC");
  }
  const OutputDirectory out(options.out.empty() ? fmt::format("out/{}-{}", scenario.name, scenario.seed) : options.out);
  ProgressLine progress(!options.quiet);
  SimulationOptions simulation_options;
  simulation_options.rtl = parse_rtl_selections(options.rtl, options.shadow, scenario.fabric.nics);
  simulation_options.add_rtl = add_rtl;
  simulation_options.pcap = options.pcap;
  const bool watched = !options.waves.empty() || !options.perfetto.empty();
  if (watched && scenario.transport == "ideal") {
    throw OutputError("--waves, --perfetto: transport = \"ideal\" has no boxes to watch");
  }
  simulation_options.waves = wave_options(options, scenario);
  simulation_options.perfetto = perfetto_options(options);
  // A size without RTL is refused before anything is said.
  for (const RtlSelection& selection : simulation_options.rtl) {
    NicRtl rtl;
    add_rtl(selection, scenario, rtl);
  }
  announce(scenario, job, options);
  simulation_options.progress = [&](const Progress& p) { progress.update(p); };
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });

  RunResult result = scenario.transport == "ideal" ? run_ideal(scenario, job.workload, job.nics_of_ranks, interrupted,
                                                               simulation_options.progress)
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
  command->add_option("--rtl", options->rtl, "BLOCK[@NODE],… or all: Verilated RTL in the place of these blocks");
  command->add_option("--shadow", options->shadow, "BLOCK[@NODE],… or all: Verilated RTL beside these blocks, compared");
  command->add_option("--pcap", options->pcap, "capture every packet at every port as pcapng (docs/wireshark)");
  command->add_option("--waves", options->waves, "signals of the model as .fst or .vcd for GTKWave (docs/waves.md)");
  command
      ->add_option("--wave-nodes", options->wave_nodes,
                   "nodes in --waves, as nic0,fabric; default: the node under test and fabric")
      ->delimiter(',');
  command->add_option("--wave-window", options->wave_window, "FROM..TO in us: time that --waves holds; default: all");
  command->add_option("--perfetto", options->perfetto, "messages and packets as a timeline for ui.perfetto.dev");
  command->add_option("--perfetto-packets", options->perfetto_packets, "1/N: show one packet in N; default: 1/1");
  command->add_flag("--yes", options->yes, "run even if more than 10 minutes of wall time are expected");
  command->add_flag("--quiet", options->quiet, "no summary, no progress");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
