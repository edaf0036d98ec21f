#include "nic/tx/qp_scheduler.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

using timing::Grant;

constexpr TimePs kStart = 5000 * kNs;  ///< when all contexts are on the NIC
constexpr std::uint32_t kQps = 6;

ScenarioConfig qp_scheduler_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::qp_scheduler);
  scenario.node_default.nic.retransmit_buffer.entries = 1;
  answer_reads_after(scenario, 1000);
  return scenario;
}

struct QpSchedulerTest : testing::Test {
  explicit QpSchedulerTest(const ScenarioConfig& scenario = qp_scheduler_config(), std::uint32_t qps = kQps)
      : bench(scenario, qps) {}

  Bench bench;
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::RetransmitBuffer retransmit_buffer{"retransmit_buffer", bench.parked, bench.nic};
  timing::QpScheduler box{"qp_scheduler", bench.wheel, bench.nic, *pcie, retransmit_buffer};
  Fifo<timing::TxPacket> sprayed = queue<timing::TxPacket>("spray_scheduler.queue", 8);

  void SetUp() override { retransmit_buffer.connect(sprayed, box); }
  void load_contexts() {
    for (std::uint32_t qp = 0; qp < kQps; ++qp) box.activate(qp, 0, kNobody);
    bench.run_until(kStart - 1);
    ASSERT_EQ(box.contexts_held(), kQps);
  }
  void work(std::uint32_t qps) {
    for (std::uint32_t qp = 0; qp < qps; ++qp) {
      bench.post(qp, 4096);
      box.activate(qp, kStart, kNobody);
    }
  }
};

TEST_F(QpSchedulerTest, LatencyAndInterval) {
  Taker<Grant> segmenter("segmenter", bench.wheel, box.grants());
  load_contexts();
  work(4);
  bench.run_until(kStart + 100 * kNs);
  EXPECT_EQ(segmenter.times, times(kStart + 7 * kNs, 3 * kNs, 4));
  ASSERT_EQ(segmenter.items.size(), 4U);
  EXPECT_EQ(segmenter.items[3].qp, 3U);
}

TEST_F(QpSchedulerTest, WaitsForRoomAmongTheGrantsAndIsChargedToIt) {
  Taker<Grant> segmenter("segmenter", bench.wheel, box.grants(), kStart + 100 * kNs);
  load_contexts();
  work(6);
  bench.run_until(kStart + 200 * kNs);
  ASSERT_EQ(segmenter.times.size(), 6U);
  EXPECT_EQ(segmenter.times[4], kStart + 107 * kNs);
  EXPECT_EQ(segmenter.times[5], kStart + 110 * kNs);
  box.slot.finish(kStart + 200 * kNs);
  // Four grants have room, the fifth is due 12 ns after the first.
  EXPECT_EQ(bench.blocked_ps(box.slot, "qp_scheduler.grants"), 88 * kNs);
}

TEST_F(QpSchedulerTest, AContextThatIsNotOnTheNicIsReadAndCharged) {
  Taker<Grant> segmenter("segmenter", bench.wheel, box.grants());
  bench.post(0, 4096);
  box.activate(0, 0, kNobody);
  bench.run_until(kStart);
  ASSERT_EQ(segmenter.times.size(), 1U);
  EXPECT_GT(segmenter.times[0], 1000 * kNs);
  box.slot.finish(kStart);
  EXPECT_EQ(bench.blocked_ps(box.slot, "qp_scheduler.context_miss"), segmenter.times[0] - 7 * kNs);
}

TEST_F(QpSchedulerTest, WaitsForARecordAndIsChargedToTheRecords) {
  Taker<Grant> segmenter("segmenter", bench.wheel, box.grants());
  At acknowledged("acknowledged", bench.wheel, kStart + 500 * kNs,
                  [&](TimePs now) { retransmit_buffer.release(now, 1, kNobody); });
  load_contexts();
  retransmit_buffer.reserve_entry(kStart);
  work(1);
  bench.run_until(kStart + 600 * kNs);
  EXPECT_EQ(segmenter.times, std::vector<TimePs>{kStart + 507 * kNs});
  box.slot.finish(kStart + 600 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "retransmit_buffer.entries"), 500 * kNs);
}

struct SmallWindow : QpSchedulerTest {
  SmallWindow() : QpSchedulerTest(with_small_window()) {}
  static ScenarioConfig with_small_window() {
    ScenarioConfig scenario = qp_scheduler_config();
    scenario.cc.max_cwnd_bytes = 8192;
    return scenario;
  }
};

TEST_F(SmallWindow, WaitsForTheWindowAndIsChargedToIt) {
  Taker<Grant> segmenter("segmenter", bench.wheel, box.grants());
  Qp& qp = bench.nic.qps[0];
  SendPlan sent;
  At opened("opened", bench.wheel, kStart + 500 * kNs, [&](TimePs now) {
    qp.congestion->control->discharge(sent.nominal_bytes);
    box.window_opened(*qp.congestion, now, kNobody);
  });
  load_contexts();
  bench.post(0, 3 * 4096);
  sent = bench.requestor(0).take(kStart - 1);
  ASSERT_EQ(bench.requestor(0).gate(kStart), SendGate::blocked_cwnd);
  box.activate(0, kStart, kNobody);
  bench.run_until(kStart + 600 * kNs);
  EXPECT_EQ(segmenter.times, std::vector<TimePs>{kStart + 507 * kNs});
  box.slot.finish(kStart + 600 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "cwnd"), 500 * kNs);
}

/// Two contexts for sixteen QPs.
struct WriteBack : QpSchedulerTest {
  static constexpr std::uint32_t kManyQps = 16;
  explicit WriteBack(const ScenarioConfig& scenario = with_two_contexts()) : QpSchedulerTest(scenario, kManyQps) {}
  static ScenarioConfig with_two_contexts() {
    ScenarioConfig scenario = qp_scheduler_config();
    scenario.node_default.nic.qp_scheduler.context_cache_entries = 2;
    return scenario;
  }

  const BoxCounters& counted() const { return bench.nic.box_counters; }
  void look(std::uint32_t qps) {
    for (std::uint32_t qp = 0; qp < qps; ++qp) box.activate(qp, 0, kNobody);
  }
};

TEST_F(WriteBack, EachContextThatIsEvictedIsWrittenToTheHost) {
  look(kManyQps);
  bench.run_until(100'000 * kNs);
  EXPECT_EQ(counted().contexts_read, kManyQps);
  EXPECT_EQ(counted().contexts_evicted, kManyQps - 2);
  EXPECT_EQ(counted().contexts_written, kManyQps - 2);
  // Of 256 bytes, which are one TLP.
  EXPECT_EQ(pcie->counts().write_tlps, kManyQps - 2);
  EXPECT_EQ(buffer(box, "qp_scheduler.write_back").level(), 0U);
}

TEST_F(WriteBack, WhatHasRoomIsNotWritten) {
  look(2);
  bench.run_until(10'000 * kNs);
  EXPECT_EQ(counted().contexts_read, 2U);
  EXPECT_EQ(pcie->counts().write_tlps, 0U);
}

TEST_F(WriteBack, OneThatWasDroppedIsNotWritten) {
  At failed("failed", bench.wheel, 10'000 * kNs, [&](TimePs now) {
    box.context_failed(now, 0);
    box.activate(2, now, kNobody);
  });
  look(2);
  bench.run_until(20'000 * kNs);
  EXPECT_EQ(counted().contexts_read, 3U);
  EXPECT_EQ(box.contexts_held(), 2U);
  EXPECT_EQ(counted().contexts_evicted, 0U);
  EXPECT_EQ(pcie->counts().write_tlps, 0U);
}

TEST_F(WriteBack, OneContextIsReadAheadAtATime) {
  look(kManyQps);
  bench.run_until(900 * kNs);
  EXPECT_EQ(counted().contexts_read, 1U);
}

struct ReadAhead : WriteBack {
  ReadAhead() : WriteBack(with_all_contexts()) {}
  static ScenarioConfig with_all_contexts() {
    ScenarioConfig scenario = with_two_contexts();
    scenario.node_default.nic.qp_scheduler.read_ahead_share = 1;
    return scenario;
  }
};

TEST_F(ReadAhead, AllContextsAreByParameter) {
  look(kManyQps);
  bench.run_until(900 * kNs);
  EXPECT_EQ(counted().contexts_read, 2U);
}

struct SlowWrites : WriteBack {
  explicit SlowWrites(const ScenarioConfig& scenario = with_slow_writes()) : WriteBack(scenario) {}
  /// The host takes a write in 10 us, and reads do not wait for it.
  static ScenarioConfig with_slow_writes() {
    ScenarioConfig scenario = with_two_contexts();
    scenario.node_default.pcie.posted_header_credits = 1;
    scenario.node_default.pcie.credit_return_ns = 10'000;
    scenario.node_default.pcie.id_based_ordering = true;
    return scenario;
  }
};

TEST_F(SlowWrites, ContextsThatComeWaitForRoomForThoseThatTheyEvict) {
  look(kManyQps);
  bench.run_until(25'000 * kNs);
  EXPECT_EQ(buffer(box, "qp_scheduler.write_back").level(), QpSchedulerConfig().write_back_entries);
  EXPECT_LT(counted().contexts_evicted, kManyQps - 2);
  EXPECT_EQ(pcie->completion_buffer().level(), 256U) << "the next one is held there";
  bench.run_until(400'000 * kNs);
  EXPECT_EQ(counted().contexts_read, kManyQps);
  EXPECT_EQ(counted().contexts_written, kManyQps - 2);
}

struct FewWaitingWrites : SlowWrites {
  FewWaitingWrites() : SlowWrites(with_three()) {}
  static ScenarioConfig with_three() {
    ScenarioConfig scenario = with_slow_writes();
    scenario.node_default.nic.qp_scheduler.write_back_entries = 3;
    return scenario;
  }
};

TEST_F(FewWaitingWrites, AreAsManyAsTheParameterSays) {
  look(kManyQps);
  bench.run_until(25'000 * kNs);
  EXPECT_EQ(buffer(box, "qp_scheduler.write_back").level(), 3U);
}

}  // namespace
}  // namespace mrc::box_test
