#include "mrcsim/trace_command.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrcsim/exit_code.h"
#include "mrcsim/option_checks.h"
#include "mrcsim/progress.h"
#include "results/output_file.h"
#include "traffic/chakra_writer.h"
#include "traffic/expand_collectives.h"
#include "traffic/flow_csv.h"
#include "traffic/load_trace.h"
#include "traffic/longest_path.h"
#include "traffic/patterns.h"
#include "traffic/ping_pong.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/training_step.h"

namespace mrc {
namespace {

struct RingOptions {
  PatternOptions pattern;
  std::uint64_t chunk_bytes = 0;
  std::string out;
};

struct PatternCommand {
  PatternOptions pattern;
  std::uint64_t seed = 1;      ///< of a permutation
  std::uint32_t receiver = 0;  ///< of an incast
  std::string out;
};

struct PingPongOptions {
  std::uint32_t count = 100;
  std::uint64_t bytes = 2;
  std::string out;
};

struct FlowOptions {
  std::uint32_t source = 0;
  std::uint32_t destination = 1;
  std::uint64_t count = 1;
  std::uint64_t bytes = 1 << 20;
  double interval_us = 0;
  std::string out;
};

void generate_ring(const RingOptions& options) {
  CollectiveOptions how;
  how.chunk_bytes = options.chunk_bytes;
  const Workload workload =
      expand_collectives(make_collectives("ring_all_reduce", CollectiveKind::all_reduce, options.pattern), how);
  write_chakra(workload, options.out);
  fmt::print("{}: {} ranks, {} sends, {} B\n", options.out, workload.ranks, workload.sends(), workload.bytes());
}

void generate_collectives(CollectiveKind kind, const PatternCommand& command) {
  const Workload workload = make_collectives(to_string(kind), kind, command.pattern);
  write_chakra(workload, command.out);
  fmt::print("{}: {} ranks, {} collectives\n", command.out, workload.ranks, workload.collectives.size());
}

/// Writes that all start at 0.
void write_flows(const Workload& workload, const std::string& out) {
  write_whole_file(out, flow_csv_text(workload, std::vector<TimePs>(workload.nodes.size())), {"a trace", ""});
  fmt::print("{}: {} flows, {} B\n", out, workload.sends(), workload.bytes());
}

void generate_ping_pong(const PingPongOptions& options) {
  const Workload workload = make_ping_pong(options.count, options.bytes);
  write_chakra(workload, options.out);
  fmt::print("{}: {} ranks, {} sends, {} B\n", options.out, workload.ranks, workload.sends(), workload.bytes());
}

void generate_flows(const FlowOptions& options) {
  std::string text(kFlowCsvHeader);
  text += '\n';
  for (std::uint64_t i = 0; i < options.count; ++i) {
    text += fmt::format("{},{},{},{},{}\n", options.interval_us * static_cast<double>(i), options.source,
                        options.destination, options.bytes, i);
  }
  // What is written must be what is read: the reader's ranges hold here too.
  std::istringstream flows(text);
  const Workload workload = read_flow_csv(flows, options.out);
  write_whole_file(options.out, text, {"a trace", ""});
  fmt::print("{}: {} flows, {} B\n", options.out, workload.sends(), workload.bytes());
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "mrcsim: warning: {}\n", warning);
}

LoadedTrace load(const TraceRequest& request) {
  ProgressLine progress(true);
  TraceRequest watched = request;
  watched.progress = [&](double share) { progress.update(share, "of the trace read"); };
  LoadedTrace trace = load_trace(watched);
  progress.finish();
  warn(trace.warnings);
  return trace;
}

/// "64MiB" → bytes. The suffixes say what they mean: KiB 1,024, KB 1,000.
CLI::Validator size_in_bytes() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
        constexpr std::array<std::pair<const char*, std::uint64_t>, 9> units{{{"", 1},
                                                                              {"B", 1},
                                                                              {"KiB", 1ULL << 10},
                                                                              {"MiB", 1ULL << 20},
                                                                              {"GiB", 1ULL << 30},
                                                                              {"TiB", 1ULL << 40},
                                                                              {"KB", 1'000},
                                                                              {"MB", 1'000'000},
                                                                              {"GB", 1'000'000'000}}};
        const std::string suffix = text.substr(digits);
        const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& u) { return suffix == u.first; });
        if (digits == 0 || digits > 13 || unit == units.end()) {
          return "\"" + text +
                 "\"; allowed: bytes such as 4096, or with KiB, MiB, GiB, TiB (1,024), KB, MB, GB (1,000)";
        }
        text = std::to_string(std::stoull(text.substr(0, digits)) * unit->second);
        return {};
      },
      "BYTES[KiB|MiB|GiB|TiB|KB|MB|GB]");
}

void add_training_step(CLI::App& generate) {
  struct Options {
    TrainingOptions training;
    std::string preset = "dense_8b";
    std::uint32_t layers = 0;
    std::uint32_t sequence_tokens = 0;
    std::string out;
  };
  auto o = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const ModelShape& model : model_presets()) names.push_back(model.name);
  CLI::App* step = generate.add_subcommand("training_step", "One training step of a transformer as Chakra traces");
  step->add_option("--model", o->preset, "shape of the model")->check(CLI::IsMember(names));
  step->add_option("--layers", o->layers, "number of layers; default: that of the model");
  step->add_option("--sequence-tokens", o->sequence_tokens, "tokens per sequence; default: that of the model");
  step->add_option("--tensor-parallel", o->training.tensor_parallel, "ranks that share each layer");
  step->add_option("--pipeline-parallel", o->training.pipeline_parallel, "stages of layers");
  step->add_option("--data-parallel", o->training.data_parallel, "ranks that share the batch");
  step->add_option("--expert-parallel", o->training.expert_parallel, "data parallel ranks that share the experts");
  step->add_option("--micro-batches", o->training.micro_batches, "micro-batches per step and data parallel rank");
  step->add_option("--micro-batch-sequences", o->training.micro_batch_sequences, "sequences per micro-batch");
  step->add_option("--accelerator-tflops", o->training.accelerator_tflops, "peak speed in 10^12 operations per second");
  step->add_option("--efficiency", o->training.efficiency, "share of the peak speed that kernels reach, 0 … 1");
  step->add_option("--bytes-per-number", o->training.bytes_per_number, "bytes per activation, weight or gradient");
  step->add_option("--out", o->out, "file name with {rank}")->required();
  step->callback([o] {
    for (const ModelShape& model : model_presets()) {
      if (model.name == o->preset) o->training.model = model;
    }
    if (o->layers != 0) o->training.model.layers = o->layers;
    if (o->sequence_tokens != 0) o->training.model.sequence_tokens = o->sequence_tokens;
    const Workload workload = make_training_step(o->training);
    write_chakra(workload, o->out);
    fmt::print("{}: {} ranks, {} sends, {} B, {} collectives\n", o->out, workload.ranks, workload.sends(),
               workload.bytes(), workload.collectives.size());
  });
}

/// Files of 100 MB and more are only counted.
constexpr std::uintmax_t kMostBytesWhole = 100'000'000;

bool is_small(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error || size < kMostBytesWhole;  // a folder or pattern has no size; its files are a rank each
}

void print_info(const TraceRequest& request) {
  TraceRequest watched = request;
  ProgressLine progress(true);
  watched.progress = [&](double share) { progress.update(share, "of the trace counted"); };
  const TraceContents contents = count_trace(watched);
  progress.finish();
  warn(contents.warnings);
  fmt::print("{}", describe(request, contents));
  if (!is_small(request.path)) {
    fmt::print("  critical path not computed: the file has 100 MB or more\n");
    return;
  }
  const bool one_of_several = contents.ranks == 1 && contents.totals.sends + contents.totals.receives > 0;
  if (one_of_several) {
    fmt::print(
        "  critical path not computed: the messages have their other ends in files of other ranks; a folder or a "
        "pattern with {{rank}} names all\n");
    return;
  }
  const LongestPath path = longest_path(load_trace(request).workload);
  fmt::print("  critical path {} us of computation, {} consecutive communications\n", path.computing_ps / kPsPerUs,
             path.communications);
}

void convert(const TraceRequest& request, const std::string& to, bool as_messages, const std::string& out) {
  Workload workload = load(request).workload;
  const bool csv = to == "flow_csv";
  workload = as_messages || csv ? expand_collectives(std::move(workload), {})
                                : without_waits_across_ranks(std::move(workload));
  if (csv) {
    fmt::print(
        stderr,
        "mrcsim: warning: {}: flows start at the times that hold if messages take no time; dependencies are lost\n",
        out);
    write_whole_file(out, flow_csv_text(workload, longest_path(workload).starts), {"a trace", ""});
  } else {
    write_chakra(workload, out);
  }
  fmt::print("{}: {} ranks, {} sends, {} B, {} collectives\n", out, workload.ranks, workload.sends(), workload.bytes(),
             as_messages || csv ? 0 : workload.collectives.size());
}

/// The options that all patterns have; `sent` says what `--bytes` counts, `repeated` what `--count` does.
CLI::App* add_pattern(CLI::App& generate, PatternCommand& command, const char* name, const char* text, const char* sent,
                      const char* repeated) {
  CLI::App* pattern = generate.add_subcommand(name, text);
  pattern->add_option("--ranks", command.pattern.ranks, "accelerators")->check(CLI::Range(2U, kMostRank + 1));
  pattern->add_option("--bytes", command.pattern.bytes, sent)->transform(size_in_bytes());
  pattern->add_option("--count", command.pattern.count, repeated)->check(CLI::Range(1, 1'000'000));
  return pattern;
}

void add_collectives(CLI::App& generate) {
  struct Collectives {
    CollectiveKind kind;
    const char* text;
    const char* sent;
  };
  for (const Collectives& one :
       {Collectives{CollectiveKind::all_to_all,
                    "All-to-alls over all ranks as Chakra execution traces, one file per rank",
                    "what each rank has for all; it sends bytes / ranks to each other rank"},
        Collectives{CollectiveKind::all_gather,
                    "All-gathers over all ranks as Chakra execution traces, one file per rank",
                    "what each rank has at the end; it brings bytes / ranks of it"},
        Collectives{CollectiveKind::reduce_scatter,
                    "Reduce-scatters over all ranks as Chakra execution traces, one file per rank",
                    "what each rank brings; it has bytes / ranks of the sum at the end"}}) {
    auto command = std::make_shared<PatternCommand>();
    CLI::App* collectives = add_pattern(generate, *command, to_string(one.kind), one.text, one.sent,
                                        "number of collectives, one after another");
    collectives->add_option("--out", command->out, "file name with {rank}")->required();
    collectives->callback([command, kind = one.kind] { generate_collectives(kind, *command); });
  }
}

void add_writes(CLI::App& generate) {
  constexpr const char* repeated = "messages of each sender";
  auto permuted = std::make_shared<PatternCommand>();
  CLI::App* permutation =
      add_pattern(generate, *permuted, "permutation",
                  "Flows from every rank to another one, no two to the same, drawn at random, as a flow CSV",
                  "length of each flow", repeated);
  permutation->add_option("--seed", permuted->seed, "decides who sends to whom");
  permutation->add_option("--out", permuted->out, "file name")->required();
  permutation->callback(
      [permuted] { write_flows(make_permutation(permuted->pattern, permuted->seed), permuted->out); });

  auto fan_in = std::make_shared<PatternCommand>();
  CLI::App* incast = add_pattern(generate, *fan_in, "incast", "Flows from all other ranks to one as a flow CSV",
                                 "length of each flow", repeated);
  incast->add_option("--dst", fan_in->receiver, "receiving rank");
  incast->add_option("--out", fan_in->out, "file name")->required();
  incast->callback([fan_in] { write_flows(make_incast(fan_in->pattern, fan_in->receiver), fan_in->out); });
}

void add_generate(CLI::App& trace) {
  CLI::App* generate = trace.add_subcommand("generate", "Write a trace")->require_subcommand(1);
  auto ring = std::make_shared<RingOptions>();
  CLI::App* all_reduce =
      generate->add_subcommand("ring_all_reduce", "Ring all-reduce as Chakra execution traces, one file per rank");
  all_reduce->add_option("--ranks", ring->pattern.ranks, "accelerators in the ring")->check(CLI::Range(2, 4096));
  all_reduce->add_option("--bytes", ring->pattern.bytes, "data to reduce")->transform(size_in_bytes());
  all_reduce->add_option("--chunk", ring->chunk_bytes, "longest message; 0: the whole share of a rank")
      ->transform(size_in_bytes());
  all_reduce->add_option("--out", ring->out, "file name with {rank}")->required();
  all_reduce->callback([ring] { generate_ring(*ring); });

  auto ping = std::make_shared<PingPongOptions>();
  CLI::App* ping_pong = generate->add_subcommand(
      "ping_pong", "Two ranks that answer each other's messages, as Chakra execution traces, one file per rank");
  ping_pong->add_option("--count", ping->count, "messages of each rank")->check(CLI::Range(1, 1'000'000));
  ping_pong->add_option("--bytes", ping->bytes, "length of each, such as 2 or 4KiB")->transform(size_in_bytes());
  ping_pong->add_option("--out", ping->out, "file name with {rank}")->required();
  ping_pong->callback([ping] { generate_ping_pong(*ping); });

  add_collectives(*generate);
  add_writes(*generate);
  add_training_step(*generate);
  auto flow = std::make_shared<FlowOptions>();
  CLI::App* flows = generate->add_subcommand("flows", "Equal flows from one rank to another as a flow CSV");
  flows->add_option("--src", flow->source, "sending rank");
  flows->add_option("--dst", flow->destination, "receiving rank");
  flows->add_option("--count", flow->count, "number of flows")->check(positive_number());
  flows->add_option("--bytes", flow->bytes, "length of each")->transform(size_in_bytes());
  flows->add_option("--interval-us", flow->interval_us, "time between two starts")->check(number_from_zero());
  flows->add_option("--out", flow->out, "file name")->required();
  flows->callback([flow] { generate_flows(*flow); });
}

CLI::App* add_reader(CLI::App& trace, const char* name, const char* text, TraceRequest& request) {
  CLI::App* command = trace.add_subcommand(name, text);
  command->add_option("TRACE", request.path, "file, folder, or pattern with {rank}")->required();
  command->add_option("--format", request.format, "format of the trace; auto: detected by content")
      ->check(CLI::IsMember(trace_formats()));
  command->add_option("--ranks", request.ranks,
                      "ranks, for a trace in which one file represents all; default: the number in the trace");
  command->add_option("--rows", request.rows, "only the given number of first flows, connections, layers or nodes");
  command
      ->add_option("--ranks-per-host", request.ranks_per_host,
                   "inner dimension, for ASTRA-sim text without the sizes of its dimensions")
      ->check(CLI::Range(1, 1'024));
  command->add_flag("--strict", request.strict, "refuse entries that would be dropped with a warning");
  return command;
}

}  // namespace

void add_trace_command(CLI::App& app, int& exit_code) {
  CLI::App* trace = app.add_subcommand("trace", "Inspect, check, convert and generate traces")->require_subcommand(1);
  add_generate(*trace);
  auto request = std::make_shared<TraceRequest>();
  add_reader(*trace, "info", "Show the content of a trace", *request)->callback([request] { print_info(*request); });
  auto to = std::make_shared<std::string>("chakra");
  auto out = std::make_shared<std::string>();
  auto as_messages = std::make_shared<bool>(false);
  CLI::App* converting = add_reader(*trace, "convert", "Write a trace in another format", *request);
  converting->add_option("--to", *to, "format to write")->check(CLI::IsMember({"chakra", "flow_csv"}));
  converting->add_flag("--as-messages", *as_messages, "write collectives as their sends and receives");
  converting->add_option("--out", *out, "file name; for chakra with {rank} in it")->required();
  converting->callback([=] { convert(*request, *to, *as_messages, *out); });
  add_reader(*trace, "check", "Read a trace and check whether it is valid", *request)->callback([request, &exit_code] {
    const LoadedTrace loaded = load(*request);
    fmt::print("{}: sound, {} ranks, {} sends, {} B, {} collectives\n", request->path, loaded.workload.ranks,
               loaded.workload.sends(), loaded.workload.bytes(), loaded.workload.collectives.size());
    exit_code = kExitOk;
  });
}

}  // namespace mrc
