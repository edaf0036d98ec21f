#include "nic/tx/retransmit_buffer.h"

#include "neighbours.h"
#include "nic/tx/retransmit_cycles.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig retransmit_buffer_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::retransmit_buffer);
  scenario.node_default.nic.retransmit_buffer.entries = 2;
  return scenario;
}

struct RetransmitBufferTest : testing::Test {
  Bench bench{retransmit_buffer_config()};
  Senders senders{bench};
  Fifo<TxPacket> in = queue<TxPacket>("spray_scheduler.queue", 16);
  timing::RetransmitBuffer box{"box", bench.wheel, bench.nic};

  void SetUp() override { box.connect(in, senders.qp_scheduler); }
  void send(std::uint32_t packets, bool retransmission = false) {
    for (Psn psn = 0; psn < packets; ++psn) {
      Packet* packet = bench.packet(Opcode::write_only, 4096, psn);
      packet->retransmission = retransmission;
      in.push(0, {packet, 0, 0, false}, 0);
    }
  }
};

TEST_F(RetransmitBufferTest, LatencyAndInterval) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  send(4);
  bench.run_until(50 * kNs);
  EXPECT_EQ(next.times, times(7 * kNs, 3 * kNs, 4));
}

TEST_F(RetransmitBufferTest, ARetransmissionIsTakenFromTheRecordsToo) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  send(3, true);
  bench.run_until(50 * kNs);
  EXPECT_EQ(next.times, times(7 * kNs, (3 + kTakeCycles - 1) * kNs, 3));
}

TEST_F(RetransmitBufferTest, WaitsForRoomInItsQueueAndIsChargedToIt) {
  Taker<TxPacket> next("next", bench.wheel, box.out(), 50 * kNs);
  send(6);
  expect_held_up_by_queue(bench, box.slot, next, "retransmit_buffer.queue");
}

TEST_F(RetransmitBufferTest, PacketsWaitWhileASackHasTheRecords) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  box.scan(0, 20);
  send(1);
  bench.run_until(50 * kNs);
  EXPECT_EQ(next.times, std::vector<TimePs>{27 * kNs});
  box.slot.finish(50 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "sram.retransmit_buffer.records"), 20 * kNs);
}

TEST_F(RetransmitBufferTest, AQpThatFoundNoRecordIsWokenByARelease) {
  box.reserve_entry(0);
  box.reserve_entry(0);
  EXPECT_FALSE(box.has_entry(0));
  EXPECT_EQ(bench.name_of(box.missing()), "retransmit_buffer.entries");
  box.wait_entry(0, 0);
  box.release(40 * kNs, 1, kNobody);
  EXPECT_TRUE(box.has_entry(40 * kNs));
  EXPECT_EQ(senders.served_from(100 * kNs), 40 * kNs);
}

/// QPs 0 and 1 have their contexts on the NIC, which holds no more.
struct RetransmitBufferContexts : testing::Test {
  static ScenarioConfig with_two_contexts() {
    ScenarioConfig scenario = retransmit_buffer_config();
    hold_first_contexts(scenario, 2);
    return scenario;
  }

  Bench bench{with_two_contexts(), 3};
  Senders senders{bench};
  ContextSource contexts{bench, senders.retransmit_buffer};
  Fifo<TxPacket> in = queue<TxPacket>("spray_scheduler.queue", 16);
  timing::RetransmitBuffer box{"box", bench.wheel, bench.nic};
  Taker<TxPacket> next{"next", bench.wheel, box.out()};

  void SetUp() override { box.connect(in, contexts.scheduler); }
  void send(std::uint32_t qp) { in.push(0, {bench.packet(Opcode::write_only, 4096), 0, qp, false}, 0); }
};

TEST_F(RetransmitBufferContexts, APacketIsSentWhenItsContextIsHereAndThoseBehindWaitWithIt) {
  for (const std::uint32_t qp : {1U, 2U, 1U}) send(qp);
  bench.run_until(3000 * kNs);
  ASSERT_EQ(next.times.size(), 3U);
  EXPECT_EQ(next.times[0], 7 * kNs);
  EXPECT_GT(next.times[1], 1000 * kNs);
  EXPECT_EQ(next.times[2], next.times[1] + 3 * kNs) << "its own context has not left";
  EXPECT_EQ(next.items[1].qp, 2U);
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 1U);
  box.slot.finish(3000 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "qp_scheduler.context_miss"), next.times[1] - 10 * kNs);
}

TEST_F(RetransmitBufferContexts, AContextThatHasGivenItsPlaceToAnotherIsReadAgain) {
  for (const std::uint32_t qp : {0U, 1U, 2U, 0U}) send(qp);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(next.times.size(), 4U);
  EXPECT_GT(next.times[2], 1000 * kNs);
  EXPECT_GT(next.times[3], next.times[2] + 1000 * kNs);
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 2U);
  EXPECT_EQ(bench.nic.box_counters.contexts_written, 2U);
}

}  // namespace
}  // namespace mrc::box_test
