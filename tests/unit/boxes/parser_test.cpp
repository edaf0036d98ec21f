#include "nic/rx/parser.h"

#include "box_bench.h"

namespace mrc::box_test {
namespace {

ScenarioConfig parser_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::parser);
  NicConfig& nic = scenario.node_default.nic;
  nic.parser.queue_entries = 8;
  nic.psn_tracker.queue_entries = 4;
  nic.sack_processor.queue_entries = 1;
  nic.datapath_bits = 1024;
  return scenario;
}

struct ParserTest : testing::Test {
  Bench bench{parser_config()};
  timing::Parser parser{"parser", bench.wheel, bench.nic};

  void receive(std::uint32_t packets, std::uint32_t payload_bytes) {
    for (Psn psn = 0; psn < packets; ++psn)
      parser.in().push(0, bench.packet(Opcode::write_only, payload_bytes, psn), 0);
  }
};

TEST_F(ParserTest, LatencyAndInterval) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(4, 64);
  bench.run_until(100 * kNs);
  EXPECT_EQ(tracker.times, times(7 * kNs, 3 * kNs, 4));
  parser.slot.finish(100 * kNs);
  EXPECT_EQ(parser.slot.busy_ps(), 12 * kNs);
}

TEST_F(ParserTest, ALongFrameTakesACyclePerBeat) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(3, 4096);
  bench.run_until(200 * kNs);
  // 4,262 B on the wire are 4,224 B of frame: 33 beats of 128 B.
  EXPECT_EQ(tracker.times, times(7 * kNs, 33 * kNs, 3));
}

TEST_F(ParserTest, WaitsForRoomInTheTrackersQueueAndIsChargedToIt) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker(), 50 * kNs);
  receive(6, 64);
  bench.run_until(49 * kNs);
  EXPECT_EQ(parser.in().size(), 2U);
  expect_held_up_by_queue(bench, parser.slot, tracker, "psn_tracker.queue");
}

TEST_F(ParserTest, SacksWaitForTheSackProcessorsQueue) {
  Taker<Packet*> processor("processor", bench.wheel, parser.to_sack_processor(), 30 * kNs);
  parser.in().push(0, bench.packet(Opcode::sack), 0);
  parser.in().push(0, bench.packet(Opcode::sack), 0);
  bench.run_until(60 * kNs);
  EXPECT_EQ(processor.times, (std::vector<TimePs>{30 * kNs, 37 * kNs}));
  parser.slot.finish(60 * kNs);
  EXPECT_EQ(bench.blocked_ps(parser.slot, "sack_processor.queue"), 27 * kNs);
}

TEST_F(ParserTest, DropsADamagedPacketAndTakesTheNext) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(2, 64);
  const_cast<Packet*>(parser.in().front())->damage = Damage::corrupted;
  bench.run_until(30 * kNs);
  EXPECT_EQ(tracker.times, (std::vector<TimePs>{10 * kNs}));
  EXPECT_EQ(bench.nic.counters.corrupted_received, 1U);
}

}  // namespace
}  // namespace mrc::box_test
