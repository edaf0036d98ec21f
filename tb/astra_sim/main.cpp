// mrcsim_astra_sim: ASTRA-sim whose network is a scenario of mrcsim (docs/astra_sim.md).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "astra_sim/live_network.h"
#include "astra_sim/systems.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/report_error.h"
#include "mrcsim/terminal.h"
#include "parameters/input_file.h"
#include "parameters/parameter_value.h"
#include "parameters/scenario.h"
#include "parameters/transport.h"
#include "results/output_directory.h"
#include "results/result_json.h"
#include "results/summary.h"
#include "simulation/simulation.h"
#include "study/interruption.h"
#include "traffic/prepare_job.h"

namespace mrc {
namespace {

constexpr const char* kProgram = "mrcsim_astra_sim";

struct Options {
  AstraOptions astra;
  std::string scenario;
  std::string logical_topology;
  std::vector<std::string> assignments;
  std::optional<std::uint64_t> seed;
  std::string out;
};

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

void require_readable(const std::string& path, const char* option) {
  const std::string why = why_unreadable(path);
  if (!why.empty()) refuse(fmt::format("{} {}: {}", option, path, why));
}

/// ASTRA-sim reads the file by itself, and ends in an abort where it is not JSON.
nlohmann::json read_json(const std::string& path, const char* option) {
  require_readable(path, option);
  std::ifstream in(path);
  nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
  if (json.is_discarded() || !json.is_object()) refuse(fmt::format("{} {}: is not a JSON object", option, path));
  return json;
}

/// As for ASTRA-sim's ns-3 front end: {"logical-dims": ["8", "2"]}.
std::vector<int> dimensions_of(const std::string& path) {
  const char* option = "--logical-topology-configuration";
  const nlohmann::json json = read_json(path, option);
  std::vector<int> sizes;
  try {
    for (const auto& size : json.at("logical-dims")) {
      sizes.push_back(size.is_string() ? std::stoi(size.get<std::string>()) : size.get<int>());
      if (sizes.back() < 1) throw std::out_of_range("size");
    }
  } catch (const std::exception&) {
    sizes.clear();
  }
  if (sizes.empty())
    refuse(fmt::format(R"({} {}: logical-dims has to be a list of sizes, such as ["8", "2"])", option, path));
  return sizes;
}

std::uint32_t product(const std::vector<int>& sizes) {
  std::uint64_t ranks = 1;
  for (const int size : sizes) {
    ranks = std::min<std::uint64_t>(ranks * static_cast<std::uint64_t>(size), ~std::uint32_t{0});
  }
  return static_cast<std::uint32_t>(ranks);
}

/// What ASTRA-sim would find missing or broken later, and say otherwise.
void check_files(const AstraOptions& astra, std::uint32_t ranks) {
  read_json(astra.system, "--system-configuration");
  read_json(astra.remote_memory, "--remote-memory-configuration");
  if (astra.comm_group != "empty") read_json(astra.comm_group, "--comm-group-configuration");
  if (astra.logging != "empty") require_readable(astra.logging, "--logging-configuration");
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    require_readable(fmt::format("{}.{}.et", astra.workload, rank), "--workload-configuration");
}

ScenarioConfig load(const Options& options) {
  std::vector<std::string> assignments = options.assignments;
  assignments.emplace_back("traffic.trace=none");
  std::vector<std::string> unused;
  ScenarioConfig scenario = load_scenario(options.scenario, {assignments, options.seed}, &unused);
  for (const std::string& warning : unused) fmt::print(stderr, "mrcsim_astra_sim: warning: {}\n", printable(warning));
  if (!transport_of(scenario).simulated) {
    refuse(fmt::format("{}: transport = \"{}\" is not simulated; allowed: mrc, rocev2, uet", options.scenario,
                       scenario.node_default.transport));
  }
  const auto only = [&](bool is, const char* what) {
    if (!is) refuse(fmt::format("{}: not supported behind ASTRA-sim; allowed: {}", options.scenario, what));
  };
  only(scenario.traffic.nics_per_rank == 1, "traffic.nics_per_rank = 1");
  only(scenario.traffic.background.empty(), "an empty traffic.background");
  only(scenario.run.stop_within_percent == 0, "run.stop_within_percent = 0");
  return scenario;
}

std::vector<NodeId> place(const ScenarioConfig& scenario, const Options& options, std::uint32_t ranks) {
  const auto refuse_nics = [&](std::uint64_t needed) {
    refuse(fmt::format("{}: fabric.nics = {}, but {} NPUs ({}) need {}", options.scenario, scenario.fabric.nics, ranks,
                       options.logical_topology, needed));
  };
  if (ranks > std::uint64_t{scenario.fabric.nics} * scenario.traffic.ranks_per_nic)
    refuse_nics((ranks + scenario.traffic.ranks_per_nic - 1) / scenario.traffic.ranks_per_nic);
  std::vector<NodeId> nics = place_ranks(scenario, ranks);
  const NodeId most = *std::max_element(nics.begin(), nics.end());
  if (most >= scenario.fabric.nics) refuse_nics(most + 1);
  return nics;
}

/// Of a NIC, all its ports together.
double gigabytes_per_second(const ScenarioConfig& scenario) {
  constexpr double bits = 8;
  const NicConfig& nic = scenario.node_default.nic;
  return static_cast<double>(nic.ports) * nic.port_gbps / bits;
}

std::string finish_times_json(const std::vector<TimePs>& finished) {
  nlohmann::ordered_json json;
  for (const TimePs at : finished)
    json["finished_ns"].push_back(at == kNever ? nlohmann::ordered_json() : nlohmann::ordered_json(at / kPsPerNs));
  constexpr int indent = 2;
  return json.dump(indent) + "\n";
}

int report(const Options& options, const ScenarioConfig& scenario, const RunResult& result,
           const std::vector<TimePs>& finished) {
  const OutputDirectory out(options.out.empty() ? fmt::format("out/{}-{}-astra", scenario.name, scenario.seed)
                                                : options.out);
  out.write("result.json", result_json(result, scenario));
  out.write("series.json", series_json(result));
  out.write("messages.csv", messages_csv(result.all_messages));
  out.write("astra_sim.json", finish_times_json(finished));
  fmt::print("{}", summary(result, shows_colours(STDOUT_FILENO)));
  const auto last = std::max_element(finished.begin(), finished.end());
  const std::string when = *last == kNever ? "not all systems" : fmt::format("{:.3f} us", us_from_ps(*last));
  fmt::print("  {:<10} {}\n", "finished", when);
  fmt::print("  {:<10} {}/result.json\n", "results", out.path());
  const int code = exit_code(result.status, interrupted());
  if (code != kExitOk) {
    fmt::print(stderr, "mrcsim_astra_sim: {}: {}\n", to_string(result.status),
               printable(result.details.empty() ? "no node reports what it waits for" : result.details.front()));
  }
  return code;
}

std::unique_ptr<AstraSystems> start_systems(const AstraOptions& astra, const std::vector<int>& dimensions,
                                            LiveNetwork& network) {
  try {
    return std::make_unique<AstraSystems>(astra, dimensions, network);
  } catch (const std::exception& error) {
    refuse(fmt::format("ASTRA-sim does not take its files ({}, {}): {}", astra.system, astra.workload, error.what()));
  }
}

int run(const Options& options) {
  const std::vector<int> dimensions = dimensions_of(options.logical_topology);
  const ScenarioConfig scenario = load(options);
  Workload workload;
  workload.ranks = product(dimensions);
  workload.source = options.astra.workload;
  workload.format = "astra-sim";
  const std::vector<NodeId> nics = place(scenario, options, workload.ranks);
  check_files(options.astra, workload.ranks);
  LiveNetwork network(workload, nics, gigabytes_per_second(scenario));
  auto systems = start_systems(options.astra, dimensions, network);
  SimulationOptions simulation_options;
  simulation_options.live = &network.work();
  Simulation simulation(scenario, workload, nics, std::move(simulation_options));
  systems->schedule_start();
  catch_interruption();
  const RunResult result = simulation.run(interruption());
  systems.reset();
  return report(options, scenario, result, network.finished_at());
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--scenario", options.scenario, "scenario of mrcsim (TOML): the network; its trace is not played")
      ->required();
  app.add_option("--set", options.assignments, "key=value, a parameter of the scenario; may be repeated");
  app.add_option("--seed", options.seed, "seed of all random draws, 0 or more")->check(number_from_zero());
  app.add_option("--out", options.out, "folder for the results; default: out/<scenario>-<seed>-astra");
  AstraOptions& astra = options.astra;
  app.add_option("--workload-configuration", astra.workload, "Chakra traces: FILE.0.et, FILE.1.et …")->required();
  app.add_option("--system-configuration", astra.system, "ASTRA-sim's system layer (JSON)")->required();
  app.add_option("--remote-memory-configuration", astra.remote_memory, "ASTRA-sim's remote memory (JSON)")->required();
  app.add_option("--logical-topology-configuration", options.logical_topology,
                 "sizes of the dimensions of NPUs (JSON), as for ASTRA-sim's ns-3 front end")
      ->required();
  app.add_option("--comm-group-configuration", astra.comm_group, "communicator groups (JSON), or empty");
  app.add_option("--logging-configuration", astra.logging, "ASTRA-sim's logging, or empty");
  app.add_option("--logging-folder", astra.logging_folder, "folder of ASTRA-sim's logs");
  app.add_option("--num-queues-per-dim", astra.queues_per_dimension, "queues of each dimension")
      ->check(CLI::Range(1, 1024));
  app.add_option("--comm-scale", astra.comm_scale, "factor of message sizes")->check(positive_number());
  app.add_option("--injection-scale", astra.injection_scale, "factor of endpoint delays")->check(number_from_zero());
  app.add_option("--rendezvous-protocol", astra.rendezvous, "true: receivers ask for messages");
}

/// Before what is required is looked at: a mistyped option is not a missing one.
void check_names(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back("--" + option->get_lnames().front());
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i], std::strcspn(argv[i], "="));
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    refuse(fmt::format("unknown option {}; nearest: {} (the network is --scenario; see --help)", word,
                       nearest(word, known)));
  }
}

int run_command_line(int argc, char** argv) {
  Options options;
  CLI::App app("ASTRA-sim with mrcsim as its network");
  add_options(app, options);
  try {
    check_names(app, argc, argv);
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : report_bad_input(kProgram, error.what());
  } catch (const std::runtime_error& error) {
    // ASTRA-sim's own, of its files, and ours of input and output.
    return report_bad_input(kProgram, error.what());
  } catch (...) {
    return report_error(kProgram);
  }
}

}  // namespace
}  // namespace mrc

int sc_main(int argc, char** argv) {
  return mrc::run_command_line(argc, argv);
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
