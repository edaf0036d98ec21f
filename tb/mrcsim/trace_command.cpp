#include "mrcsim/trace_command.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrcsim/exit_code.h"
#include "results/output_directory.h"
#include "traffic/chakra_writer.h"
#include "traffic/expand_collectives.h"
#include "traffic/flow_csv.h"
#include "traffic/load_trace.h"
#include "traffic/ping_pong.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

struct RingOptions {
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 1 << 20;
  std::uint64_t chunk_bytes = 0;
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

/// One collective over all ranks, written out as messages.
Workload make_ring(const RingOptions& options) {
  constexpr const char* place = "ring_all_reduce";
  if (options.bytes < 1 || options.bytes > kMostMessageBytes)
    throw TraceError(place, fmt::format("{} bytes; allowed: 1 … {}", options.bytes, kMostMessageBytes));
  WorkloadBuilder builder;
  std::vector<std::uint32_t> ranks(options.ranks);
  std::iota(ranks.begin(), ranks.end(), 0U);
  Collective all_reduce{CollectiveKind::all_reduce, options.bytes, builder.group(ranks), 0};
  const std::uint32_t position = builder.collective(all_reduce);
  for (const std::uint32_t rank : ranks) {
    WorkNode node;
    node.kind = WorkKind::collective;
    node.rank = rank;
    node.match = position;
    builder.add(node);
  }
  CollectiveOptions how;
  how.chunk_bytes = options.chunk_bytes;
  Workload workload = builder.finish(options.ranks);
  workload.source = place;
  return expand_collectives(std::move(workload), how);
}

void generate_ring(const RingOptions& options) {
  const Workload workload = make_ring(options);
  write_chakra(workload, options.out);
  fmt::print("{}: {} ranks, {} sends, {} B\n", options.out, workload.ranks, workload.sends(), workload.bytes());
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
  write_whole_file(options.out, text);
  fmt::print("{}: {} flows, {} B\n", options.out, workload.sends(), workload.bytes());
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(stderr, "mrcsim: warning: {}\n", warning);
}

LoadedTrace load(const TraceRequest& request) {
  LoadedTrace trace = load_trace(request);
  warn(trace.warnings);
  return trace;
}

void add_generate(CLI::App& trace) {
  CLI::App* generate = trace.add_subcommand("generate", "Write a trace")->require_subcommand(1);
  auto ring = std::make_shared<RingOptions>();
  CLI::App* all_reduce =
      generate->add_subcommand("ring_all_reduce", "Ring all-reduce as Chakra execution traces, a file a rank");
  all_reduce->add_option("--ranks", ring->ranks, "accelerators in the ring")->check(CLI::Range(2, 4096));
  all_reduce->add_option("--bytes", ring->bytes, "data to reduce, such as 64MiB")->transform(CLI::AsSizeValue(false));
  all_reduce->add_option("--chunk", ring->chunk_bytes, "longest message; 0: a rank's share whole")
      ->transform(CLI::AsSizeValue(false));
  all_reduce->add_option("--out", ring->out, "file name with {rank}")->required();
  all_reduce->callback([ring] { generate_ring(*ring); });

  auto ping = std::make_shared<PingPongOptions>();
  CLI::App* ping_pong = generate->add_subcommand(
      "ping_pong", "Two ranks that answer each other's messages, as Chakra execution traces, a file a rank");
  ping_pong->add_option("--count", ping->count, "messages of each rank")->check(CLI::Range(1, 1'000'000));
  ping_pong->add_option("--bytes", ping->bytes, "length of each, such as 2 or 4KiB")
      ->transform(CLI::AsSizeValue(false));
  ping_pong->add_option("--out", ping->out, "file name with {rank}")->required();
  ping_pong->callback([ping] { generate_ping_pong(*ping); });

  auto flow = std::make_shared<FlowOptions>();
  CLI::App* flows = generate->add_subcommand("flows", "Equal flows from one rank to another as a flow CSV");
  flows->add_option("--src", flow->source, "sending rank");
  flows->add_option("--dst", flow->destination, "receiving rank");
  flows->add_option("--count", flow->count, "number of flows")->check(CLI::PositiveNumber);
  flows->add_option("--bytes", flow->bytes, "bytes of each, such as 1MiB")->transform(CLI::AsSizeValue(false));
  flows->add_option("--interval-us", flow->interval_us, "time between two starts")->check(CLI::NonNegativeNumber);
  flows->add_option("--out", flow->out, "file name")->required();
  flows->callback([flow] { generate_flows(*flow); });
}

CLI::App* add_reader(CLI::App& trace, const char* name, const char* text, TraceRequest& request) {
  CLI::App* command = trace.add_subcommand(name, text);
  command->add_option("TRACE", request.path, "file, folder, or pattern with {rank}")->required();
  command->add_option("--format", request.format, "auto: by content")->check(CLI::IsMember(trace_formats()));
  command->add_option("--ranks", request.ranks, "ranks of a trace that stands for all; default: as many as it says");
  command->add_option("--rows", request.rows, "only the first so many flows, connections, layers or nodes");
  command->add_flag("--strict", request.strict, "refuse what would be dropped with a warning");
  return command;
}

}  // namespace

void add_trace_command(CLI::App& app, int& exit_code) {
  CLI::App* trace =
      app.add_subcommand("trace", "Look at traces, check them, generate small ones")->require_subcommand(1);
  add_generate(*trace);
  auto request = std::make_shared<TraceRequest>();
  add_reader(*trace, "info", "What a trace holds", *request)->callback([request] {
    const TraceContents contents = count_trace(*request);
    warn(contents.warnings);
    fmt::print("{}", describe(*request, contents));
  });
  add_reader(*trace, "check", "Read a trace and say whether it is sound", *request)->callback([request, &exit_code] {
    const LoadedTrace loaded = load(*request);
    fmt::print("{}: sound, {} ranks, {} sends, {} B, {} collectives\n", request->path, loaded.workload.ranks,
               loaded.workload.sends(), loaded.workload.bytes(), loaded.workload.collectives.size());
    exit_code = kExitOk;
  });
}

}  // namespace mrc
