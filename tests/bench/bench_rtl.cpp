// RTL cycles per second of each block alone, as a run drives it: transaction by transaction with what a 4 KiB packet
// asks. With cycles per packet. tests/bench/rtl_speed.py prints them beside those of a whole run.
#include <benchmark/benchmark.h>

#include "cosim/ack_coalescer/rtl.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/spray_scheduler/rtl.h"
#include "cosim/srv6_encap/rtl.h"
#include "mrc/control/path_table.h"

namespace mrc {
namespace {

constexpr std::uint32_t kPacketBytes = 4'096;
constexpr std::uint32_t kPacketsASack = 16;

/// `before`: the engine's clock when the loop began.
template <typename Engine>
void report(benchmark::State& state, const Engine& engine, std::uint64_t before,
            std::int64_t packets_an_iteration = 1) {
  const auto cycles = static_cast<double>(engine.cycles() - before);
  state.SetItemsProcessed(packets_an_iteration * state.iterations());
  state.counters["cycles_per_second"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
  state.counters["cycles_a_packet"] =
      cycles / static_cast<double>(packets_an_iteration) / static_cast<double>(state.iterations());
}

void pcie_dma(benchmark::State& state) {
  const NodeConfig node;
  const auto engine = make_pcie_dma_rtl(node);
  const std::uint64_t before = engine->cycles();
  std::uint32_t job = 0;
  for (auto _ : state) {
    engine->read(job, 0, kPacketBytes, true);
    job = (job + 1) % 512;
    for (std::uint32_t asked = 0; asked < kPacketBytes; asked += node.pcie.mrrs_bytes) {
      const ReadRequestTlp request = engine->request().value();
      for (std::uint32_t left = request.bytes; left > 0; left -= node.pcie.mps_bytes) {
        benchmark::DoNotOptimize(engine->completion({request.tag, node.pcie.mps_bytes, left, false}));
      }
    }
    benchmark::DoNotOptimize(engine->ordered_done());
    engine->release(kPacketBytes);
    engine->write(0, kPacketBytes);
    for (std::uint32_t left = kPacketBytes; left > 0; left -= node.pcie.mps_bytes) {
      benchmark::DoNotOptimize(engine->write_tlp());
    }
  }
  report(state, *engine, before);
}
BENCHMARK(pcie_dma);

void spray_scheduler(benchmark::State& state) {
  constexpr std::uint32_t planes = 8;
  const ProtocolConfig config;
  const EvProfile profile = make_auto_profile(config, planes, KeyedRandom(1, "profile"));
  const PathTable table(profile, config, planes, KeyedRandom(1, "table"));
  KeyedRandom random = table.order_random();
  std::vector<EvIndex> order = table.scan_order();
  bool first = true;
  const auto engine = make_spray_scheduler_rtl({1, config.ev_count, planes});
  engine->configure(profile, table, [&](std::uint32_t) -> std::span<const EvIndex> {
    if (!first) draw_scan_order(random, profile.value.size(), order);
    first = false;
    return order;
  });
  engine->open(0, table.active_total());
  engine->return_credit(std::vector<std::uint32_t>(planes, 1'000'000));
  const std::uint64_t before = engine->cycles();
  std::vector<std::uint32_t> credit(planes, 0);
  TimePs now = 0;
  std::uint64_t packets = 0;
  for (auto _ : state) {
    engine->return_credit(credit);
    const SpraySelection chosen = engine->select(0, kPacketBytes, 0xFF, now += 42'600);
    credit.assign(planes, 0);
    if (chosen.found) credit[chosen.plane] = kPacketBytes;
    // The cycles between two packets at 1 GHz.
    engine->idle(40);
    if (++packets % kPacketsASack == 0) engine->update_by_value(0, chosen.value, PathEvent::delivered, now);
  }
  report(state, *engine, before);
}
BENCHMARK(spray_scheduler);

/// Packets of one QP, a SACK for each kPacketsASack of them and a look for gaps behind it.
void retransmit_buffer(benchmark::State& state) {
  const auto engine = make_retransmit_buffer_rtl(ScenarioConfig(), 0);
  RetransmitCommand command;
  engine->run(command);
  const std::uint64_t before = engine->cycles();
  Psn psn = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kPacketsASack; ++i, psn = psn_add(psn, 1)) {
      command = {};
      command.op = RetransmitOp::append;
      command.bytes = kPacketBytes;
      engine->run(command);
      command.op = RetransmitOp::sent;
      command.psn = psn;
      engine->run(command);
    }
    command = {};
    command.op = RetransmitOp::ack;
    command.psn = psn_add(psn, -1);
    command.base = psn;
    benchmark::DoNotOptimize(engine->run(command).count);
    command = {};
    command.op = RetransmitOp::gap;
    command.threshold = 64;
    engine->run(command);
  }
  report(state, *engine, before, kPacketsASack);
}
BENCHMARK(retransmit_buffer);

void srv6_encap(benchmark::State& state) {
  const auto engine = make_srv6_encap_rtl(NicConfig().datapath_bits);
  Srv6EncapInput input;
  input.path = UsidTemplate::same_t0(0xFC00'0001, 1, 2);
  const std::vector<std::byte> inner(kPacketBytes + 88, std::byte{0x5A});
  const std::uint64_t before = engine->cycles();
  for (auto _ : state) benchmark::DoNotOptimize(engine->encapsulate(input, inner, 0));
  report(state, *engine, before);
}
BENCHMARK(srv6_encap);

void psn_tracker(benchmark::State& state) {
  const auto engine = make_psn_tracker_rtl(kPsnTrackerRtl, {});
  PsnRequest request;
  request.op = PsnOp::setup;
  engine->run(request);
  request.op = PsnOp::data;
  request.conditions = {.allowed = true, .packet_buffer = true, .other_resource = true, .receive = true};
  const std::uint64_t before = engine->cycles();
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine->run(request));
    request.psn = psn_add(request.psn, 1);
  }
  report(state, *engine, before);
}
BENCHMARK(psn_tracker);

void ack_coalescer(benchmark::State& state) {
  const ProtocolConfig protocol;
  const auto engine = make_ack_coalescer_rtl(protocol.sack_threshold_bytes, protocol.sack_min_add_bytes);
  SackQuestion question;
  question.payload_bytes = kPacketBytes;
  const std::uint64_t before = engine->cycles();
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine->event(0, question));
    question.trigger.psn = psn_add(question.trigger.psn, 1);
  }
  report(state, *engine, before);
}
BENCHMARK(ack_coalescer);

}  // namespace
}  // namespace mrc

BENCHMARK_MAIN();
