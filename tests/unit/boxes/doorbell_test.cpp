#include "nic/tx/doorbell.h"

#include "neighbours.h"
#include "nic/tx/wqe_fetch.h"

namespace mrc::box_test {
namespace {

ScenarioConfig doorbell_config() {
  return small_nic(&NicConfig::doorbell);
}

struct DoorbellTest : testing::Test {
  Bench bench{doorbell_config(), 4};
  Senders senders{bench};
  timing::Doorbell box{"doorbell", bench.wheel, bench.nic, senders.qp_scheduler};
};

TEST_F(DoorbellTest, LatencyUntilTheSchedulerMayServeTheQp) {
  box.queue().push(0, 2, 5 * kNs);
  bench.run_until(20 * kNs);
  EXPECT_TRUE(senders.qp_scheduler.is_listed(2));
  EXPECT_EQ(senders.served_from(30 * kNs), 12 * kNs);
}

TEST_F(DoorbellTest, TakesOnePerInterval) {
  bench.nic.tx_work.begin(0);
  for (std::uint32_t qp = 0; qp < 4; ++qp) box.queue().push(0, qp, 0);
  bench.run_until(5 * kNs);
  EXPECT_EQ(box.queue().size(), 2U);
  bench.run_until(7 * kNs);
  EXPECT_EQ(box.queue().size(), 1U);
  bench.run_until(20 * kNs);
  box.slot.finish(20 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
  EXPECT_EQ(box.slot.starved_ps(), 8 * kNs);
}

TEST_F(DoorbellTest, TheHostWaitsForRoom) {
  for (std::uint32_t qp = 0; qp < 4; ++qp) box.queue().push(0, qp, 10 * kNs);
  EXPECT_TRUE(box.queue().full());
  std::vector<TimePs> rung;
  At host("host", bench.wheel, 10 * kNs, [&](TimePs now) { rung.push_back(now); });
  box.queue().wait_room(0, host);
  bench.run_until(20 * kNs);
  EXPECT_EQ(rung, std::vector<TimePs>{10 * kNs});
  EXPECT_FALSE(box.queue().full());
}

struct CarriedWqe : testing::Test {
  static ScenarioConfig with_wqe() {
    ScenarioConfig scenario = doorbell_config();
    scenario.node_default.nic.doorbell.carries_wqe = true;
    return scenario;
  }
  Bench bench{with_wqe(), 2};
  Senders senders{bench};
  timing::Doorbell box{"doorbell", bench.wheel, bench.nic, senders.qp_scheduler};
  timing::WqeFetch wqe_fetch{"wqe_fetch", bench.parked, bench.nic, *senders.pcie, senders.qp_scheduler};

  void SetUp() override { box.connect(wqe_fetch); }
  void ring(TimePs at) {
    bench.nic.qps[1].send_queue.post({.remote_address = kRemoteAddress, .rkey = kRkey, .bytes = 64});
    ++bench.nic.qps[1].doorbells_under_way;
    box.queue().push(0, 1, at);
  }
};

TEST_F(CarriedWqe, IsHandedOnWithoutARead) {
  ring(5 * kNs);
  bench.run_until(20 * kNs);
  EXPECT_EQ(bench.nic.qps[1].wqes_held, 1U);
  EXPECT_EQ(bench.nic.qps[1].send_queue.waiting(), 0U);
  EXPECT_EQ(bench.requestor(1).gate(20 * kNs), SendGate::ready);
}

TEST_F(CarriedWqe, IsNotTakenWhereAnOlderOneWaitsInHostMemory) {
  ring(5 * kNs);
  ring(30 * kNs);
  bench.nic.qps[1].wqes_in_fetch = 1;  // the first is being read
  bench.run_until(20 * kNs);
  EXPECT_EQ(bench.nic.qps[1].wqes_held, 0U);
  bench.nic.qps[1].wqes_in_fetch = 0;
  bench.run_until(60 * kNs);
  EXPECT_EQ(bench.nic.qps[1].wqes_held, 0U) << "the second may not pass the first";
  EXPECT_EQ(bench.nic.qps[1].send_queue.waiting(), 2U);
}

}  // namespace
}  // namespace mrc::box_test
