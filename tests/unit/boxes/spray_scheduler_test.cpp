#include "nic/tx/spray_scheduler.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig spray_scheduler_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::spray_scheduler);
  scenario.node_default.nic.port.tx_fifo_bytes = 4 * 4262;
  return scenario;
}

struct SprayTest : testing::Test {
  Bench bench{spray_scheduler_config()};
  Ports ports{bench, bench.parked};
  timing::RetransmitTimer timer{"retransmit_timer", bench.parked, bench.nic};
  Fifo<TxPacket> in = queue<TxPacket>("payload_fetch.queue", 32);
  timing::SprayScheduler box{"spray_scheduler", bench.wheel, bench.nic, in, ports.all, timer, nullptr};

  void send(std::uint32_t packets) {
    bench.post(0, packets * 4096);
    for (Psn psn = 0; psn < packets; ++psn) {
      const SendPlan plan = bench.requestor(0).take(0);
      in.push(0, {bench.packet(plan.opcode, plan.payload_bytes, plan.psn), 0, 0, false}, 0);
    }
  }
};

TEST_F(SprayTest, LatencyAndIntervalOverThePlanesInTurn) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  send(4);
  bench.run_until(50 * kNs);
  EXPECT_EQ(next.times, times(7 * kNs, 3 * kNs, 4));
  ASSERT_EQ(next.items.size(), 4U);
  int of_plane[2] = {};
  for (const TxPacket& tx : next.items) ++of_plane[tx.packet->plane];
  EXPECT_GT(of_plane[0], 0);
  EXPECT_GT(of_plane[1], 0);
  EXPECT_NE(bench.requestor(0).next_deadline(), kNever) << "the retransmit timer runs";
}

TEST_F(SprayTest, WaitsForRoomInItsQueueAndIsChargedToIt) {
  Taker<TxPacket> next("next", bench.wheel, box.out(), 50 * kNs);
  send(6);
  expect_held_up_by_queue(bench, box.slot, next, "spray_scheduler.queue");
}

TEST_F(SprayTest, WaitsForRoomAtAPortAndIsChargedToIt) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  send(10);
  bench.run_until(100 * kNs);
  // Two FIFOs of four packets each.
  EXPECT_EQ(next.times.size(), 8U);
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "port.tx_fifo"), 76 * kNs);
}

TEST_F(SprayTest, GoesOnWhenAPortHasRoomAgain) {
  Taker<TxPacket> next("next", bench.wheel, box.out());
  At up("up", bench.wheel, 60 * kNs, [&](TimePs now) {
    bench.nic.ports_up = ~0U;
    box.retry(now, kNobody);
  });
  bench.nic.ports_up = 0;
  send(1);
  bench.run_until(100 * kNs);
  EXPECT_EQ(next.times, std::vector<TimePs>{67 * kNs});
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "port.tx_fifo"), 60 * kNs);
}

TEST_F(SprayTest, WithoutAGoodEvItIsChargedToThem) {
  bench.nic.qps[0].paths->set_port_status(0);
  send(1);
  bench.run_until(40 * kNs);
  box.slot.finish(40 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "spray_scheduler.no_good_ev"), 40 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
