#include "mrcsim/run_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cosim/joined_rtl.h"
#include "cosim/rtl_blocks.h"
#include "cosim/rtl_modules.h"
#include "engine/rtl_error.h"
#include "mpi/launcher.h"
#include "mpi/mpi_ranks.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/expected_time.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/progress.h"
#include "mrcsim/provenance.h"
#include "mrcsim/rtl_selection.h"
#include "mrcsim/run_bins.h"
#include "mrcsim/study_options.h"
#include "mrcsim/terminal.h"
#include "parameters/input_file.h"
#include "parameters/registry.h"
#include "parameters/scenario.h"
#include "parameters/transport.h"
#include "programs/programs.h"
#include "results/late_faults.h"
#include "results/output_directory.h"
#include "results/result_json.h"
#include "results/summary.h"
#include "simulation/simulation.h"
#include "study/digest.h"
#include "study/interruption.h"
#include "traffic/prepare_job.h"
#include "transports/ideal/ideal_fabric.h"

namespace mrc {
namespace {

using Clock = std::chrono::steady_clock;

/// Wall time is that of the whole process: this is set before main begins.
const Clock::time_point process_start = Clock::now();

/// Chosen, not measured: nodes carry from 0.3 (detailed, bytes copied) to 3 million packets per second of wall time,
/// and a tenth where RTL blocks run with them.
constexpr double kPacketsPerSecond = 300'000;
constexpr double kPacketsPerSecondWithRtl = 30'000;
constexpr double kMostSecondsUnasked = 600;

constexpr const char* kByPins = "pins";

class TooLong : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// What is to be expected of a run; throws TooLong where that is more than is begun unasked. How long it takes on this
/// machine is not known before it has begun (ExpectedTime).
std::string expectation(const ScenarioConfig& scenario, const Job& job, const RunOptions& options) {
  const std::uint64_t packets = expected_packets(job.workload, scenario.protocol.mtu_bytes);
  const double speed = options.rtl.empty() && options.shadow.empty() ? kPacketsPerSecond : kPacketsPerSecondWithRtl;
  const double seconds = static_cast<double>(packets) / speed;
  std::string text = fmt::format("{} data packets", packets);
  if (transport_of(scenario).simulated && seconds > kMostSecondsUnasked && !options.yes) {
    throw TooLong(
        fmt::format("{}: expects {}, about {:.0f} s of wall time at an assumed {:.0f} packets/s; --yes runs it anyway; "
                    "traffic.ranks, traffic.rows and traffic.byte_scale reduce it",
                    options.scenario, text, seconds, speed));
  }
  return text + fmt::format("; the wall time is estimated after {:.0f} s", ExpectedTime::kMeasuredSeconds);
}

const char* why_without_details(RunStatus status) {
  return status == RunStatus::partial ? "interrupted" : "no node reports what it waits for";
}

WaveOptions wave_options(const RunOptions& options, const ScenarioConfig& scenario) {
  WaveOptions waves;
  waves.path = options.waves;
  if (waves.path.empty()) {
    if (options.wave_nodes.empty() && options.wave_window.empty()) return waves;
    throw OutputError("--wave-nodes and --wave-window need --waves FILE");
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
    throw OutputError(fmt::format("--wave-nodes {}: a light endpoint has no boxes (fidelity = \"endpoint\")", name));
  }
  return waves;
}

PerfettoOptions perfetto_options(const RunOptions& options) {
  PerfettoOptions perfetto;
  perfetto.path = options.perfetto;
  if (options.perfetto_packets.empty()) return perfetto;
  if (perfetto.path.empty()) throw OutputError("--perfetto-packets needs --perfetto FILE");
  perfetto.packets_one_in = parse_packet_sampling(options.perfetto_packets);
  return perfetto;
}

bool prints_text(const RunOptions& options) {
  return !options.quiet && options.format == "text";
}

Job read_job(const ScenarioConfig& scenario, const RunOptions& options, bool shows_progress) {
  ProgressLine progress(shows_progress);
  return prepare_job(scenario, options.scenario, [&](double share) { progress.update(share, "of the trace read"); });
}

/// Other settings are another folder, so that runs of one scenario do not replace each other's results.
std::string default_folder(const ScenarioConfig& scenario, const RunOptions& options) {
  const std::string folder = fmt::format("out/{}-{}", scenario.name, scenario.seed);
  if (options.assignments.empty() && options.rtl.empty() && options.shadow.empty()) return folder;
  Digest settings;
  for (const std::string& assignment : options.assignments) settings.add(assignment);
  settings.add(options.rtl).add(options.shadow);
  if (options.rtl_timing == kByPins) settings.add(options.rtl_timing);
  if (options.rtl_apart) settings.add("apart");
  constexpr std::size_t digits = 8;
  return fmt::format("{}-{}", folder, settings.hex().substr(0, digits));
}

/// What a run needs before time begins; whatever is wrong with its input is found here.
struct Prepared {
  ScenarioConfig scenario;
  Job job;
  std::unique_ptr<OutputDirectory> out;  ///< where results are written: not on another rank than 0
  std::unique_ptr<ProgressLine> progress;
  std::vector<RtlSourceResult> rtl_sources;
  std::unique_ptr<RunBins> bins;           ///< null: not asked for
  bool has_trace = true;                   ///< false: programs drive the NICs
  std::unique_ptr<Programs> programs;      ///< null: the trace's players drive the NICs
  std::unique_ptr<Simulation> simulation;  ///< null: the transport is not simulated
};

/// What watches or replaces parts of one process is not there where several carry the run.
void refuse_on_several_ranks(const ScenarioConfig& scenario, const RunOptions& options, std::uint32_t ranks) {
  const auto refuse = [&](const std::string& what) {
    throw OutputError(
        fmt::format("{}: not supported on several ranks ({} here); start mrcsim run without mpirun", what, ranks));
  };
  if (!options.pcap.empty()) refuse("--pcap");
  if (!options.waves.empty()) refuse("--waves");
  if (!options.perfetto.empty()) refuse("--perfetto");
  if (options.bins) refuse("--bins");
  if (!transport_of(scenario).simulated) refuse(fmt::format("transport = \"{}\"", scenario.node_default.transport));
  if (scenario.run.stop_within_percent > 0) refuse("run.stop_within_percent");
  if (scenario.run.message_causes) refuse("run.message_causes");
  if (scenario.run.kernel != KernelMode::wheel) refuse("run.kernel = \"methods\"");
}

/// What is not there for programs.
void refuse_with_programs(const ScenarioConfig& scenario) {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument(fmt::format("host: {}", what)); };
  for (const Transport* transport : transports_in(scenario)) {
    if (transport->name != "mrc") refuse(fmt::format("transport = \"{}\"; allowed: mrc", transport->name));
  }
  if (scenario.protocol.encryption.on()) {
    refuse(
        "protocol.encryption.framing: programs connect their QPs while time passes, and these have no keys; allowed: "
        "none");
  }
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    const NodeConfig& config = scenario.node(node);
    if (config.host.payload != PayloadMode::bytes) refuse("host.payload = \"reference\"; allowed: bytes");
  }
}

/// The scenario's trace is not played by programs.
ScenarioConfig load_for_programs(const RunOptions& options, std::vector<std::string>& unused) {
  std::vector<std::string> assignments = options.assignments;
  assignments.push_back("traffic.trace=none");
  ScenarioConfig scenario = load_scenario(options.scenario, {assignments, options.seed}, &unused);
  refuse_with_programs(scenario);
  return scenario;
}

/// The line on the terminal, and once what the first seconds of the run say of the rest.
ProgressListener progress_of(Prepared& run, const RunOptions& options, bool first) {
  const bool says = first && prints_text(options);
  return [&run, says, expected = ExpectedTime()](const Progress& p) mutable {
    const auto seconds = says ? expected.seconds_left(p.share) : std::nullopt;
    if (seconds) {
      run.progress->finish();
      fmt::print("  {:<10} about {:.0f} s more of wall time, as the first {:.0f} s went\n", "expects", *seconds,
                 ExpectedTime::kMeasuredSeconds);
      std::fflush(stdout);
    }
    run.progress->update(p);
  };
}

using ProgramsOf = std::function<std::unique_ptr<Programs>(const ScenarioConfig&)>;

void prepare(const RunOptions& options, Ranks* ranks, Prepared& run, const ProgramsOf* programs = nullptr) {
  std::vector<std::string> unused;
  run.scenario = programs != nullptr ? load_for_programs(options, unused)
                                     : load_scenario(options.scenario, {options.assignments, options.seed}, &unused);
  const ScenarioConfig& scenario = run.scenario;
  if (ranks != nullptr) refuse_on_several_ranks(scenario, options, ranks->size());
  const bool first = ranks == nullptr || ranks->rank() == 0;
  if (programs == nullptr) run.job = read_job(scenario, options, first && !options.quiet);
  if (first) {
    for (const std::string& warning : unused) fmt::print(stderr, "mrcsim: warning: {}\n", printable(warning));
    for (const std::string& warning : run.job.warnings) fmt::print(stderr, "mrcsim: warning: {}\n", printable(warning));
  }
  const Transport& transport = transport_of(scenario);
  if (!options.pcap.empty() && !transport.captured) {
    throw ParameterError(
        "--pcap",
        fmt::format("transport = \"{}\" cannot be captured; captures contain MRC packets only", transport.name));
  }
  if (first) {
    run.out = std::make_unique<OutputDirectory>(options.out.empty() ? default_folder(scenario, options) : options.out);
  }
  run.progress = std::make_unique<ProgressLine>(first && !options.quiet);
  SimulationOptions simulation_options;
  simulation_options.ranks = ranks;
  simulation_options.rtl = parse_rtl_selections(options.rtl, options.shadow, scenario.fabric.nics);
  if (options.rtl_timing == kByPins) {
    clock_by_pins(simulation_options.rtl);
    if (!options.rtl_apart) join_neighbors(simulation_options.rtl, scenario);
  } else if (options.rtl_apart) {
    throw OutputError("--rtl-apart needs --rtl-timing pins");
  }
  simulation_options.add_rtl = add_rtl;
  if (options.bins) {
    if (options.shadow.empty()) throw OutputError("--bins needs --shadow BLOCK");
    run.bins = std::make_unique<RunBins>(simulation_options.rtl);
    simulation_options.add_rtl = [&bins = *run.bins](const RtlSelection& selection, const ScenarioConfig& of,
                                                     NicRtl& rtl) { bins.add_rtl(selection, of, rtl); };
  }
  simulation_options.pcap = options.pcap;
  const bool watched = !options.waves.empty() || !options.perfetto.empty();
  if (watched && !transport.simulated) {
    throw OutputError(fmt::format("--waves, --perfetto: transport = \"{}\" has no boxes to record", transport.name));
  }
  simulation_options.waves = wave_options(options, scenario);
  simulation_options.perfetto = perfetto_options(options);
  // RTL that is not built, or not in these sizes, is refused before anything is said.
  std::vector<std::string> blocks;
  for (const RtlSelection& selection : simulation_options.rtl) {
    for (const std::string& name : {selection.block, selection.joined}) {
      if (!name.empty() && std::ranges::find(blocks, name) == blocks.end()) blocks.push_back(name);
    }
  }
  require_rtl_modules(RtlModuleKind::rtl, blocks);
  for (const std::string& block : blocks) {
    RtlSource source = rtl_source(RtlModuleKind::rtl, block);
    run.rtl_sources.push_back({block, source.top, std::move(source.files), source.sha256, source.contract_file});
  }
  const auto name_rtl = [&] {
    if (!first || !prints_text(options)) return;
    for (const std::string& block : blocks) {
      fmt::print("{}\n", rtl_line(rtl_source(RtlModuleKind::rtl, block)));
    }
  };
  try {
    for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
      NicRtl rtl;
      for (const RtlSelection& selection : simulation_options.rtl) {
        if (selection.node == node) add_rtl(selection, scenario, rtl);
      }
    }
  } catch (const RtlError&) {
    name_rtl();  // it does not even come out of reset: no refusal of settings, a finding about this RTL
    throw;
  }
  check_rtl_selections(scenario, simulation_options.rtl);
  const std::string expected = expectation(scenario, run.job, options);
  name_rtl();
  if (first && prints_text(options) && transport_of(scenario).simulated && programs == nullptr)
    fmt::print("  {:<10} {}\n", "expects", expected);
  std::fflush(stdout);
  simulation_options.progress = progress_of(run, options, first);
  if (!transport.simulated) return;
  run.has_trace = programs == nullptr;
  if (programs != nullptr) run.programs = (*programs)(scenario);
  simulation_options.programs = run.programs.get();
  run.simulation =
      std::make_unique<Simulation>(scenario, run.job.workload, run.job.nics_of_ranks, std::move(simulation_options));
}

/// False where another rank could not prepare and says so. Throws what was wrong here, at rank 0.
bool prepare_together(const RunOptions& options, Ranks& ranks, Prepared& run) {
  std::exception_ptr wrong;
  try {
    prepare(options, &ranks, run);
  } catch (...) {
    wrong = std::current_exception();
  }
  std::vector<Bytes> none(ranks.size());
  std::vector<Bytes> nothing(ranks.size());
  const TimePs first_wrong = ranks.exchange(none, nothing, wrong ? ranks.rank() : kNever);
  if (first_wrong == kNever) return true;
  if (first_wrong == ranks.rank()) std::rethrow_exception(wrong);
  return false;
}

/// How a block that differs is seen alone, asked what this run asks it: with both sides, a short replay and waves.
void print_how_to_repeat(const RunOptions& options, const RunResult& result) {
  const auto differs = std::ranges::find_if(result.rtl, [](const RtlResult& row) { return row.mismatches > 0; });
  if (differs == result.rtl.end()) return;
  std::string settings;
  for (const std::string& assignment : options.assignments) settings += " --set " + shell_quoted(assignment);
  if (options.seed) settings += fmt::format(" --set seed={}", *options.seed);
  fmt::print("  {:<10} {} cosim {} --size default --vectors trace --scenario {}{}\n", "alone", typed_executable(),
             differs->block, shell_quoted(options.scenario), settings);
}

/// What the run asked its blocks, played to each of them alone. Returns the exit code.
int play_bins(const RunOptions& options, const Prepared& run) {
  std::vector<BlockBins> found;
  ProgressLine progress(!options.quiet);
  try {
    found = run.bins->play(interrupted, [&](double share) { progress.update(share, "of what was recorded played"); });
  } catch (const cosim::CosimInterrupted&) {
    progress.finish();
    fmt::print(stderr, "mrcsim: interrupted; no bins.json was written\n");
    return kExitInterrupted;
  }
  progress.finish();
  run.out->write("bins.json", bins_json(found));
  if (prints_text(options)) fmt::print("{}", bins_text(found, run.out->path() + "/bins.json"));
  const auto differs = std::ranges::find_if(found, [](const BlockBins& block) { return !block.mismatch.empty(); });
  if (differs == found.end()) return kExitOk;
  fmt::print(stderr, "mrcsim: mismatch: {} alone: {}\n", differs->block, differs->mismatch);
  return kExitMismatch;
}

int finish(const RunOptions& options, Prepared& run, RunResult result) {
  run.simulation.reset();  // so that results may take the memory that the model had
  result.job.cut = run.job.cut;
  result.rtl_sources = run.rtl_sources;
  for (std::string& note : late_fault_notes(run.scenario, result.simulated_time_us)) {
    result.notes.push_back(std::move(note));
  }
  if (!options.only_result) {
    run.out->write("series.json", series_json(result));
    run.out->write("messages.csv", messages_csv(result.all_messages));
    run.out->write("flows.csv", flows_csv(result.all_messages));
    run.out->write("run.json", json_of(provenance()));
  }
  const std::string json = result_json(result, run.scenario);
  run.out->write("result.json", json);
  result.cost.wall_seconds = std::chrono::duration<double>(Clock::now() - process_start).count();
  run.progress->finish();
  if (options.format == "json") fmt::print("{}", json);
  if (prints_text(options)) {
    // mpirun gives its processes a terminal, and a file or a pipe what they write there.
    fmt::print("{}", summary(result, shows_colours(STDOUT_FILENO) && launched_processes() == 1));
    for (const auto& [what, file] :
         {std::pair("capture", options.pcap), {"waves", options.waves}, {"timeline", options.perfetto}}) {
      if (!file.empty()) fmt::print("  {:<10} {}\n", what, file);
    }
    fmt::print("  {:<10} {}/result.json\n", "results", run.out->path());
    if (run.has_trace) print_how_to_repeat(options, result);
  }
  const int code = exit_code(result.status, interrupted());
  if (code != kExitOk) {
    fmt::print(stderr, "mrcsim: {}: {}\n", to_string(result.status),
               printable(result.details.empty() ? why_without_details(result.status) : result.details.front()));
    return code;
  }
  return run.bins ? play_bins(options, run) : code;
}

int run_alone(const RunOptions& options) {
  Prepared run;
  prepare(options, nullptr, run);
  catch_interruption();
  const ProgressListener progress = progress_of(run, options, true);
  RunResult result = run.simulation
                         ? run.simulation->run(interruption())
                         : run_ideal(run.scenario, run.job.workload, run.job.nics_of_ranks, interruption(), progress);
  return finish(options, run, std::move(result));
}

/// Rank 0 speaks for all and has the exit code; the others end with 0.
int run_together(const RunOptions& options) {
  if (!has_mpi()) {
    throw OutputError(
        fmt::format("{} processes were started together, but this mrcsim was built without MPI (Debian: "
                    "libopenmpi-dev), so each would do the whole run; start it without mpirun",
                    launched_processes()));
  }
  // Static, so that the ranks are left at the end of the process: after a rank has left, mpirun may drop what a failed
  // process still prints.
  static const std::unique_ptr<Ranks> ranks = join_mpi_ranks();
  Prepared run;
  try {
    if (!prepare_together(options, *ranks, run)) return kExitOk;
  } catch (const std::exception& error) {
    if (ranks->rank() == 0) throw;
    fmt::print(stderr, "mrcsim: rank {}: {}\n", ranks->rank(), error.what());
    return kExitBadInput;
  }
  catch_interruption();
  RunResult result;
  try {
    result = run.simulation->run(interruption());
  } catch (const std::exception& error) {
    // The others wait for this rank.
    fmt::print(stderr, "mrcsim: internal error: rank {}: {}\n", ranks->rank(), error.what());
    std::fflush(stderr);
    abort_mpi_ranks(kExitBug);
  }
  if (ranks->rank() != 0) return kExitOk;
  // Whoever started the ranks may have told this one only at the end that it is to stop.
  if (result.status == RunStatus::partial && result.details == std::vector<std::string>{"interrupted"}) {
    interruption() = true;
  }
  return finish(options, run, std::move(result));
}

}  // namespace

int run_programs(const RunOptions& options, const ProgramsOf& programs) {
  Prepared run;
  prepare(options, nullptr, run, &programs);
  catch_interruption();
  RunResult result = run.simulation->run(interruption());
  result.notes = run.programs->notes();
  run.programs.reset();
  return finish(options, run, std::move(result));
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("--set", options.assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command.add_option("--seed", options.seed, "seed of all random draws, 0 or more")->check(number_from_zero());
  command.add_option(
      "--out", options.out,
      "folder for the results; default: out/<scenario>-<seed>, with a digest of the settings if there are any");
  command.add_option("--rtl", options.rtl, "BLOCK[@NODE],… or all: Verilated RTL replaces these blocks");
  command.add_option("--shadow", options.shadow,
                     "BLOCK[@NODE],… or all: Verilated RTL in shadow of these blocks, compared with them");
  command
      .add_option(
          "--rtl-timing", options.rtl_timing,
          "of --rtl: transaction, a block gets one transaction after the other; pins, it is clocked with the run "
          "and its handshakes set the pace (docs/rtl.md)")
      ->check(CLI::IsMember({"transaction", kByPins}));
  command.add_flag("--rtl-apart", options.rtl_apart,
                   "with --rtl-timing pins: blocks in RTL that follow each other hand over to each other by queues of "
                   "the model, and are "
                   "not joined in RTL");
  command.add_flag("--bins", options.bins,
                   "with --shadow: which bins of the blocks' functional coverage the run reaches (bins.json)");
  command.add_option("--pcap", options.pcap, "capture every packet at every port as pcapng (docs/wireshark)");
  command.add_option("--waves", options.waves, "signals of the model as .fst or .vcd for GTKWave (docs/waves.md)");
  command
      .add_option("--wave-nodes", options.wave_nodes,
                  "nodes in --waves, such as nic0,fabric; default: the node under test and fabric")
      ->delimiter(',');
  command.add_option("--wave-window", options.wave_window, "FROM..TO in us: time range of --waves; default: all");
  command.add_option("--perfetto", options.perfetto, "messages and packets as a timeline for ui.perfetto.dev");
  command.add_option("--perfetto-packets", options.perfetto_packets, "1/N: show one packet in N; default: 1/1");
  command
      .add_option("--format", options.format,
                  "of standard output: text, the summary; json, result.json as it is also written")
      ->check(CLI::IsMember({"text", "json"}));
  command.add_flag("--quiet", options.quiet, "no summary, no progress");
}

void add_run_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a scenario and write its result");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML)")->required();
  add_run_options(*command, *options);
  command->add_flag("--yes", options->yes, "run even if more than 10 minutes of wall time are expected");
  command->add_flag("--only-result", options->only_result, "write result.json alone, as studies do");
  command->callback(
      [options, &exit_code] { exit_code = launched_processes() > 1 ? run_together(*options) : run_alone(*options); });
}

}  // namespace mrc
