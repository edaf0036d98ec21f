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

}  // namespace
}  // namespace mrc::box_test
