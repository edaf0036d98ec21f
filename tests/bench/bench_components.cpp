// Cost of the parts that every packet passes.
#include <benchmark/benchmark.h>

#include "engine/event_wheel.h"
#include "engine/occupancy.h"
#include "mrc/control/path_table.h"
#include "mrc/rx/psn_tracker.h"
#include "mrc/tx/retransmit_buffer.h"
#include "mrc/wire/packet_codec.h"

namespace mrc {
namespace {

Packet full_packet(std::vector<std::byte>& payload) {
  payload.assign(4'096, std::byte{0x5A});
  Packet packet;
  packet.opcode = Opcode::write_middle;
  packet.payload = payload.data();
  packet.payload_bytes = 4'096;
  packet.dma_length = 1 << 20;
  packet.destination_node = 1;
  packet.destination_qp = 16;
  return packet;
}

void encode_frame_4k(benchmark::State& state) {
  std::vector<std::byte> payload;
  const Packet packet = full_packet(payload);
  const ProtocolConfig config;
  std::vector<std::byte> bytes;
  for (auto _ : state) {
    wire::encode_frame(wire::to_frame(packet, config, payload), bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(encode_frame_4k);

void decode_frame_4k(benchmark::State& state) {
  std::vector<std::byte> payload;
  const ProtocolConfig config;
  std::vector<std::byte> bytes;
  wire::encode_frame(wire::to_frame(full_packet(payload), config, payload), bytes);
  wire::Frame frame;
  for (auto _ : state) {
    benchmark::DoNotOptimize(wire::decode_frame(bytes, wire::decode_options(config), frame));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode_frame_4k);

void path_table_select(benchmark::State& state) {
  const ProtocolConfig config;
  const EvProfile profile = make_auto_profile(config, 8, KeyedRandom(1, "profile"));
  PathTable table(profile, config, 8, KeyedRandom(1, "table"));
  TimePs now = 0;
  for (auto _ : state) benchmark::DoNotOptimize(table.select(0xFF, now += 42'600));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(path_table_select);

void psn_tracker_reordered(benchmark::State& state) {
  BitmapPool pool(4'096);
  PsnTracker tracker(0, 1'024, pool);
  Psn psn = 0;
  for (auto _ : state) {
    // Pairs swapped: every other packet is out of order.
    benchmark::DoNotOptimize(tracker.accept(psn_add(psn, 1), false));
    benchmark::DoNotOptimize(tracker.accept(psn, false));
    psn = psn_add(psn, 2);
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(psn_tracker_reordered);

}  // namespace
}  // namespace mrc

BENCHMARK_MAIN();
