#include "nic/tx/wqe_fetch.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig wqe_fetch_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::wqe_fetch);
  answer_reads_after(scenario, 1000);
  return scenario;
}

constexpr std::uint32_t kQps = 12;

struct WqeFetchTest : testing::Test {
  Bench bench{wqe_fetch_config(), kQps};
  Senders senders{bench};

  /// The host has one WQE in each QP's send queue, and the scheduler wants them.
  void want(std::uint32_t qps) {
    for (std::uint32_t qp = 0; qp < qps; ++qp) {
      bench.nic.qps[qp].send_queue.post({.remote_address = kRemoteAddress, .rkey = kRkey, .bytes = 4096});
      bench.nic.qps[qp].wqes_in_fetch = 1;
      senders.qp_scheduler.wqe_requests().push(0, qp, 0);
    }
  }
};

TEST_F(WqeFetchTest, HandsTheWqeToItsQpAfterTheReadAndItsLatency) {
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::WqeFetch box("wqe_fetch", bench.wheel, bench.nic, *pcie, senders.qp_scheduler);
  want(1);
  bench.run_until(999 * kNs);
  EXPECT_EQ(bench.nic.qps[0].wqes_held, 0U);
  bench.run_until(2000 * kNs);
  EXPECT_EQ(bench.nic.qps[0].wqes_held, 1U);
  EXPECT_EQ(bench.requestor(0).gate(2000 * kNs), SendGate::ready);
  // Request, 1,000 ns at the host, the line and the report, and 7 ns of its own.
  const TimePs at = senders.served_from(2000 * kNs);
  EXPECT_GE(at, 1012 * kNs);
  EXPECT_LE(at, 1030 * kNs);
}

TEST_F(WqeFetchTest, TakesOneRequestPerInterval) {
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::WqeFetch box("wqe_fetch", bench.wheel, bench.nic, *pcie, senders.qp_scheduler);
  want(4);
  bench.run_until(5 * kNs);
  EXPECT_EQ(senders.qp_scheduler.wqe_requests().size(), 2U);
  bench.run_until(20 * kNs);
  EXPECT_EQ(senders.qp_scheduler.wqe_requests().size(), 0U);
  box.slot.finish(20 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(WqeFetchTest, WaitsForRoomInTheReadQueueAndIsChargedToIt) {
  // PCIe takes nothing: its queue of 8 reads fills.
  timing::WqeFetch box("wqe_fetch", bench.wheel, bench.nic, *senders.pcie, senders.qp_scheduler);
  want(12);
  bench.run_until(100 * kNs);
  EXPECT_EQ(senders.qp_scheduler.wqe_requests().size(), 4U);
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "pcie.read_queue"), 76 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
