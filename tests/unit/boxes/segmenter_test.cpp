#include "nic/tx/segmenter.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig segmenter_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::segmenter);
  scenario.node_default.nic.retransmit_buffer.entries = 8;
  return scenario;
}

struct SegmenterTest : testing::Test {
  Bench bench{segmenter_config()};
  Senders senders{bench};
  timing::Segmenter box{"segmenter", bench.wheel, bench.nic, senders.qp_scheduler, senders.retransmit_buffer};

  void grant(std::uint32_t packets, std::uint32_t quantum_bytes = 1 << 20) {
    bench.post(0, packets * bench.scenario.protocol.mtu_bytes);
    senders.qp_scheduler.hold_wqes(0, bench.nic.qps[0], 1);
    senders.qp_scheduler.grants().push(0, {0, quantum_bytes}, 0);
  }
};

TEST_F(SegmenterTest, LatencyAndInterval) {
  Taker<TxPacket> fetch("fetch", bench.wheel, box.out());
  grant(3);
  bench.run_until(50 * kNs);
  EXPECT_EQ(fetch.times, times(7 * kNs, 3 * kNs, 3));
  ASSERT_EQ(fetch.items.size(), 3U);
  EXPECT_EQ(fetch.items[0].packet->opcode, Opcode::write_first);
  EXPECT_EQ(fetch.items[2].packet->opcode, Opcode::write_last);
  EXPECT_EQ(buffer(senders.retransmit_buffer, "retransmit_buffer.entries").level(), 3U);
  EXPECT_TRUE(senders.qp_scheduler.is_listed(0)) << "the message is cut: the grant goes back";
}

TEST_F(SegmenterTest, WaitsForRoomInItsQueueAndIsChargedToIt) {
  Taker<TxPacket> fetch("fetch", bench.wheel, box.out(), 50 * kNs);
  grant(6);
  expect_held_up_by_queue(bench, box.slot, fetch, "segmenter.queue");
}

TEST_F(SegmenterTest, GivesTheGrantBackWhenItsQuantumIsUsedUp) {
  Taker<TxPacket> fetch("fetch", bench.wheel, box.out());
  grant(4, 2 * 4096);
  bench.run_until(50 * kNs);
  EXPECT_EQ(fetch.times.size(), 2U);
  EXPECT_TRUE(senders.qp_scheduler.is_listed(0)) << "the scheduler looks at the QP again";
}

TEST_F(SegmenterTest, GivesTheGrantBackWhenNoRecordIsLeft) {
  Taker<TxPacket> fetch("fetch", bench.wheel, box.out());
  grant(10);
  bench.run_until(100 * kNs);
  EXPECT_EQ(fetch.times.size(), 8U);
  EXPECT_EQ(bench.name_of(senders.retransmit_buffer.missing()), "retransmit_buffer.entries");
  EXPECT_TRUE(senders.qp_scheduler.is_listed(0));
}

}  // namespace
}  // namespace mrc::box_test
