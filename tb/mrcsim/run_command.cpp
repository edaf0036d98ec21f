#include "mrcsim/run_command.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cosim/srv6_encap_rtl.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/progress.h"
#include "mrcsim/rtl_selection.h"
#include "parameters/scenario.h"
#include "results/output_directory.h"
#include "results/result_json.h"
#include "results/summary.h"
#include "simulation.h"
#include "traffic/expand_collectives.h"
#include "traffic/load_trace.h"
#include "traffic/trace_error.h"

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
};

std::vector<NodeId> place_ranks(std::uint32_t ranks) {
  std::vector<NodeId> node_of_rank(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) node_of_rank[rank] = rank;
  return node_of_rank;
}

/// A missing file is the scenario's fault: says which key named it.
LoadedTrace load_scenario_trace(const TraceRequest& request) {
  if (request.path.find("{rank}") == std::string::npos && !std::filesystem::exists(request.path)) {
    throw TraceError(request.path, "does not exist (traffic.trace; paths are relative to the scenario file)");
  }
  return load_trace(request);
}

LoadedTrace load_traffic(const ScenarioConfig& scenario) {
  LoadedTrace trace = load_scenario_trace({.path = scenario.traffic.trace,
                                           .format = scenario.traffic.format,
                                           .ranks = scenario.traffic.ranks,
                                           .rows = scenario.traffic.rows,
                                           .strict = false,
                                           .byte_scale = scenario.traffic.byte_scale});
  CollectiveOptions collective = scenario.traffic.collective;
  collective.seed = scenario.seed;
  trace.workload = expand_collectives(std::move(trace.workload), collective);
  check_ranks(trace.workload, scenario.fabric.nics);
  for (const std::string& warning : trace.warnings) fmt::print(stderr, "mrcsim: warning: {}\n", warning);
  return trace;
}

const char* why_without_details(RunStatus status) {
  return status == RunStatus::partial ? "interrupted" : "no node can say what it waits for";
}

int run(const RunOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, options.seed});
  const LoadedTrace trace = load_traffic(scenario);
  const OutputDirectory out(options.out.empty() ? fmt::format("out/{}-{}", scenario.name, scenario.seed) : options.out);
  ProgressLine progress(!options.quiet);
  SimulationOptions simulation_options;
  simulation_options.rtl = parse_rtl_selections(options.rtl, options.shadow, scenario.fabric.nics);
  simulation_options.make_srv6_encap = make_srv6_encap_rtl;
  simulation_options.pcap = options.pcap;
  simulation_options.progress = [&](const Progress& p) { progress.update(p); };
  std::signal(SIGINT, [](int) { interrupted = true; });
  std::signal(SIGTERM, [](int) { interrupted = true; });

  Simulation simulation(scenario, trace.workload, place_ranks(trace.workload.ranks), std::move(simulation_options));
  RunResult result = simulation.run(interrupted);
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
  command->add_flag("--quiet", options->quiet, "no summary, no progress");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
