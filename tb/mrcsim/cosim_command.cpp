#include "mrcsim/cosim_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cosim/rtl_blocks.h"
#include "cosim/rtl_modules.h"
#include "mrcsim/coverage_json.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/study_options.h"
#include "parameters/input_file.h"
#include "parameters/registry.h"
#include "parameters/scenario.h"
#include "results/output_directory.h"
#include "results/output_file.h"
#include "simulation/simulation.h"
#include "study/interruption.h"
#include "traffic/prepare_job.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr FileKind kVectors{"a file of vectors", "# mrcsim vectors: "};

struct CosimCommandOptions {
  std::string block;
  std::string vectors = "random";
  std::string size = "small";
  std::string scenario;
  std::vector<std::string> assignments;
  cosim::CosimOptions bench;
};

struct TraceOfRun {
  cosim::Trace trace;
  std::string mismatch;  ///< that has ended the run; empty: none
};

/// What the RTL of the scenario's nodes is asked in a run of it, where ring 1 decides.
TraceOfRun trace_of_run(const CosimCommandOptions& options) {
  if (options.scenario.empty()) throw std::invalid_argument("--vectors trace: --scenario FILE is missing");
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, std::nullopt});
  const Job job = prepare_job(scenario, options.scenario);
  require_same_sources(options.block, bench_kind(options.size));
  std::vector<cosim::Trace> of_node(scenario.fabric.nics);
  // It is played several times.
  const std::uint64_t most = options.bench.count / cosim::kTraceLoads + 1;
  SimulationOptions simulation_options;
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    simulation_options.rtl.push_back({options.block, node, RtlMode::shadow});
    // Sizes that are not built are refused as in a run.
    NicRtl rtl;
    add_rtl(simulation_options.rtl.back(), scenario, rtl);
  }
  simulation_options.add_rtl = [&](const RtlSelection& selection, const ScenarioConfig& of, NicRtl& rtl) {
    add_recorded_rtl(selection, of, cosim::TraceRecorder(of_node[selection.node], most), rtl);
  };
  Simulation simulation(scenario, job.workload, job.nics_of_ranks, std::move(simulation_options));
  const RunResult result = simulation.run(interruption());
  if (interrupted()) throw cosim::CosimInterrupted{};
  std::size_t busiest = 0;
  for (std::size_t node = 0; node < of_node.size(); ++node) {
    if (of_node[node].offers.size() > of_node[busiest].offers.size()) busiest = node;
  }
  const bool differs = result.status == RunStatus::mismatch && !result.details.empty();
  return {std::move(of_node[busiest]), differs ? result.details.front() : ""};
}

Json fields_json(const std::vector<std::pair<std::string, std::uint64_t>>& fields) {
  Json json = Json::object();
  for (const auto& [name, value] : fields) json[name] = value;
  return json;
}

/// `mismatch_of_run`: that of the run of --vectors trace; empty: none.
Json report_json(const CosimCommandOptions& options, const RtlSource& rtl, const cosim::CosimReport& report,
                 const std::string& mismatch_of_run) {
  Json json{{"schema_version", 1},        {"block", options.block},
            {"size", options.size},       {"vectors", options.vectors},
            {"seed", options.bench.seed}, {"transactions", report.transactions},
            {"outputs", report.outputs},  {"cycles", report.cycles},
            {"resets", report.resets},    {"mismatches", report.mismatches}};
  json["rtl"] = {{"top", rtl.top}, {"files", rtl.files}, {"sha256", rtl.sha256}, {"contract", rtl.contract_file}};
  if (options.vectors == "trace") json["mismatch_of_run"] = mismatch_of_run;
  json["mismatch"] = nullptr;
  if (const auto& m = report.first_mismatch) {
    json["mismatch"] = {{"kind", m->kind},
                        {"episode", m->episode},
                        {"cycle", m->cycle},
                        {"transfer", m->transfer},
                        {"port", m->port},
                        {"field", m->field},
                        {"expected", m->expected},
                        {"rtl", m->actual},
                        {"input", fields_json(m->input)},
                        {"reference_output", fields_json(m->reference)},
                        {"rtl_output", fields_json(m->rtl)}};
    if (!m->contract.empty()) json["mismatch"]["contract"] = m->contract;
    if (!m->assertion.name.empty())
      json["mismatch"]["assertion"] = {{"name", m->assertion.name}, {"place", m->assertion.place}};
    if (!report.replay_file.empty()) json["mismatch"]["replay_file"] = report.replay_file;
    if (!report.waves_file.empty()) json["mismatch"]["waves_file"] = report.waves_file;
  }
  json["functional_coverage"] = coverage_json(report.coverage);
  Json source = Json::object();
  for (const auto& [kind, counts] : report.source) {
    source[kind] = {{"points", counts.points}, {"hit", counts.hit}, {"missed", counts.missed}};
  }
  json["source_coverage"] = source;
  if (!report.coverage_file.empty()) json["coverage_file"] = report.coverage_file;
  return json;
}

using Values = std::vector<std::pair<std::string, std::uint64_t>>;

std::optional<std::uint64_t> value_of(const Values& fields, const std::string& name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? std::nullopt : std::optional(found->second);
}

void print_input(const cosim::Mismatch& mismatch) {
  if (mismatch.input.empty()) return;
  fmt::print("    input: transfer {} of the run, port {}\n", mismatch.transfer, mismatch.input_port);
  for (const auto& [name, value] : mismatch.input) fmt::print("        {:<18} {:#x}\n", name, value);
}

/// Both sides, field by field; a `>` where they differ, a `-` where one has no such field.
void print_outputs(const cosim::Mismatch& mismatch) {
  Values names = mismatch.reference;
  for (const auto& field : mismatch.rtl) {
    if (!value_of(names, field.first)) names.push_back(field);
  }
  if (names.empty()) return;
  const auto text = [](const std::optional<std::uint64_t>& value) {
    return value ? fmt::format("{:#x}", *value) : "-";
  };
  fmt::print("    output: port {}\n        {:<18} {:<20} {}\n", mismatch.port, "field", "reference", "RTL");
  for (const auto& field : names) {
    const auto reference = value_of(mismatch.reference, field.first);
    const auto rtl = value_of(mismatch.rtl, field.first);
    const bool differs = reference && rtl && *reference != *rtl;
    fmt::print("      {} {:<18} {:<20} {}\n", differs ? '>' : ' ', field.first, text(reference), text(rtl));
  }
}

/// How the mismatch is seen once more, with waves.
void print_how_to_repeat(const CosimCommandOptions& options, const cosim::CosimReport& report) {
  const std::string command = fmt::format("{} cosim {} --size {}", typed_executable(), options.block, options.size);
  const std::string out = shell_quoted(options.bench.out);
  if (!options.bench.replay.empty()) {
    fmt::print("  {:<10} {} --replay {} --waves --out {}\n", "repeat", command, shell_quoted(options.bench.replay),
               out);
    return;
  }
  fmt::print("  {:<10} {}, which has the {} that it needs\n", "replay", report.replay_file,
             report.replay_transfers == 1 ? "one transfer" : fmt::format("{} transfers", report.replay_transfers));
  fmt::print("  {:<10} {} --replay {} --waves --out {}\n", "repeat", command, shell_quoted(report.replay_file), out);
  if (options.vectors == "trace") return;
  fmt::print("  {:<10} {} --seed {} --count {} --out {}\n", "whole run", command, options.bench.seed,
             options.bench.count, out);
}

void print_missed(const cosim::CosimReport& report) {
  for (const auto& point : report.coverage.points()) {
    for (const auto& bin : point.bins) {
      if (bin.hits == 0 && bin.waiver.empty()) fmt::print("    not hit   {}: {}\n", point.name, bin.name);
      if (!bin.waiver.empty()) fmt::print("    waived    {}: {} ({})\n", point.name, bin.name, bin.waiver);
    }
  }
  const auto lines = report.source.find("line");
  if (lines == report.source.end()) return;
  for (const std::string& line : lines->second.missed) fmt::print("    not run   {}\n", line);
}

void print_report(const CosimCommandOptions& options, const cosim::CosimReport& report, double seconds) {
  fmt::print("cosim {}  {} sizes, {} vectors, seed {}\n", options.block, options.size, options.vectors,
             options.bench.seed);
  fmt::print("  {:<10} {} transfers in, {} out, {} cycles, {} resets, {:.1f} s: {:.2f} M cycles/s\n", "ran",
             report.transactions, report.outputs, report.cycles, report.resets, seconds,
             static_cast<double>(report.cycles) / 1e6 / std::max(seconds, 1e-9));
  fmt::print("  {:<10} {}\n", "mismatches", report.mismatches);
  if (options.bench.replay.empty()) {
    fmt::print("  {:<10} {} of {} functional bins", "coverage", report.coverage.bins_hit(), report.coverage.bins());
    for (const auto& [kind, counts] : report.source) {
      fmt::print(
          ", {} {:.1f} % of {}", kind,
          100.0 * static_cast<double>(counts.hit) / static_cast<double>(std::max<std::uint64_t>(counts.points, 1)),
          counts.points);
    }
    fmt::print("\n");
    if (!report.first_mismatch) print_missed(report);
    if (!report.coverage_file.empty()) fmt::print("  {:<10} {}\n", "kept", report.coverage_file);
  }
  if (const auto& m = report.first_mismatch) {
    fmt::print("  first      {}\n", m->line());
    print_input(*m);
    print_outputs(*m);
    print_how_to_repeat(options, report);
  }
  if (!report.waves_file.empty()) {
    fmt::print("  {:<10} {}{}\n", "waves", report.waves_file,
               report.first_mismatch && options.bench.replay.empty() ? ", of the replay" : "");
  }
}

/// A folder in the one for the results, in which files are written until all are whole; what is left in it goes.
class Scratch {
 public:
  explicit Scratch(const std::string& out) : out_(out) {
    for (const auto& entry : fs::directory_iterator(out_)) {
      if (entry.is_directory() && is_temporary_name(entry.path().filename().string())) fs::remove_all(entry.path());
    }
    // By this name the next run knows it for one of ours.
    path_ = fmt::format("{}/.mrcsim-{}.tmp", out_, getpid());
    std::error_code failed;
    fs::create_directory(path_, failed);
    if (failed) throw OutputError(fmt::format("--out {}: {}", out_, failed.message()));
  }
  ~Scratch() {
    std::error_code failed;
    fs::remove_all(path_, failed);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  /// Where a file of it is later.
  std::string later(std::string text) const {
    const std::size_t at = text.find(path_);
    return at == std::string::npos ? text : text.replace(at, path_.size(), out_);
  }
  void move_all() const {
    for (const auto& entry : fs::directory_iterator(path_))
      fs::rename(entry.path(), fs::path(out_) / entry.path().filename());
  }

 private:
  std::string out_;
  std::string path_;
};

/// With the names that the files have in the end.
cosim::CosimReport run_bench(const CosimCommandOptions& options, const Scratch& scratch, cosim::StreamBench& bench) {
  cosim::CosimOptions written = options.bench;
  written.out = scratch.path();
  written.later = options.bench.out;
  written.stopped = interrupted;
  std::optional<OutputFile> vectors;
  if (!options.bench.keep_vectors.empty()) {
    vectors.emplace(options.bench.keep_vectors, kVectors);
    written.keep_vectors = vectors->temporary();
  }
  try {
    cosim::CosimReport report = bench.run(written);
    if (vectors) vectors->commit();
    for (std::string* file : {&report.replay_file, &report.waves_file, &report.coverage_file})
      *file = scratch.later(*file);
    return report;
  } catch (const std::invalid_argument& error) {
    std::string text = scratch.later(error.what());
    if (vectors && text.starts_with(written.keep_vectors))
      text.replace(0, written.keep_vectors.size(), options.bench.keep_vectors);
    throw std::invalid_argument(text);
  }
}

int run_into_folder(CosimCommandOptions& options, const RtlSource& source, cosim::StreamBench& bench) {
  const OutputDirectory out(options.bench.out);
  const Scratch scratch(options.bench.out);
  std::string mismatch_of_run;
  if (options.vectors == "trace") {
    TraceOfRun run = trace_of_run(options);
    options.bench.trace = std::move(run.trace);
    mismatch_of_run = std::move(run.mismatch);
  }
  const auto start = std::chrono::steady_clock::now();
  const cosim::CosimReport report = run_bench(options, scratch, bench);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.write("cosim.json", report_json(options, source, report, mismatch_of_run).dump(2) + "\n");
  scratch.move_all();
  print_report(options, report, seconds);
  fmt::print("  {:<10} {}/cosim.json\n", "results", options.bench.out);
  if (report.first_mismatch) {
    fmt::print(stderr, "mrcsim: mismatch: {}: {}\n", options.block, report.first_mismatch->line());
    return kExitMismatch;
  }
  if (mismatch_of_run.empty()) return kExitOk;
  // What the run asked until then does not show it in the block alone.
  fmt::print(stderr, "mrcsim: mismatch: in the run: {}\n", mismatch_of_run);
  return kExitMismatch;
}

int run(CosimCommandOptions options) {
  const std::vector<std::string> blocks = rtl_block_names();
  const std::unique_ptr<cosim::StreamBench> bench = cosim::make_bench(options.block, options.size);
  if (!bench) {
    throw std::invalid_argument(fmt::format("cosim: no RTL block {}; there are: {}; nearest: {}", options.block,
                                            fmt::join(blocks, ", "), nearest(options.block, blocks)));
  }
  if (options.vectors != "trace" && !(options.scenario.empty() && options.assignments.empty())) {
    throw std::invalid_argument("cosim: --scenario and --set need --vectors trace");
  }
  if (!options.bench.replay.empty() && !options.bench.keep_vectors.empty()) {
    throw std::invalid_argument("cosim: --keep-vectors has no effect with --replay; give only one of them");
  }
  const RtlSource source = rtl_source(bench_kind(options.size), options.block);
  fmt::print("{}\n", rtl_line(source));
  std::fflush(stdout);
  if (options.bench.out.empty()) options.bench.out = "out/cosim-" + options.block;
  catch_interruption();
  try {
    return run_into_folder(options, source, *bench);
  } catch (const cosim::CosimInterrupted& at) {
    fmt::print(stderr, "mrcsim: interrupted after {} transfers; nothing was written\n", at.transfers);
    return kExitInterrupted;
  }
}

}  // namespace

void add_cosim_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CosimCommandOptions>();
  CLI::App* command = app.add_subcommand("cosim", "Run one RTL block against its protocol reference");
  command->add_option("BLOCK", options->block, "RTL block")->required();
  command->add_option("--vectors", options->vectors, "random, or trace: transactions from a run of --scenario")
      ->check(CLI::IsMember({"random", "trace"}));
  command->add_option("--count", options->bench.count, "transfers into the block; default: 1000000")
      ->check(positive_number());
  command->add_option("--seed", options->bench.seed, "seed of stimuli, back-pressure and initial state");
  command
      ->add_option("--size", options->size,
                   "small (reaches every corner) or default (sizes of the default scenario); default: small")
      ->check(CLI::IsMember({"small", "default"}));
  command->add_option("--scenario", options->scenario, "scenario of --vectors trace");
  command->add_option("--set", options->assignments, "key=value for --scenario")->take_all()->expected(1, -1);
  command->add_flag("--waves", options->bench.waves, "waves (FST) of the last episode or the replay");
  command->add_option("--replay", options->bench.replay, "run this replay file instead");
  command->add_option("--keep-vectors", options->bench.keep_vectors,
                      "write each transfer in, and what the reference answers, to this file");
  command->add_option("--out", options->bench.out, "folder for the results; default: out/cosim-BLOCK");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
