#include "nic/control/completion.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig completion_config() {
  ScenarioConfig scenario = small_nic();
  scenario.node_default.nic.completion.pipeline = {.latency_cycles = 7, .initiation_interval_cycles = 30};
  scenario.node_default.pcie.write_latency_ns = 400;
  scenario.node_default.host.poll_ns = 50;
  return scenario;
}

struct CompletionTest : testing::Test {
  explicit CompletionTest(const ScenarioConfig& scenario = completion_config()) : bench(scenario) {
    box.connect(polled);
  }

  Bench bench;
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::Completion box{"completion", bench.wheel, bench.nic, *pcie};
  Fifo<Cqe> polled = queue<Cqe>("completion.completion_queue", 4);

  void complete(std::uint32_t messages) {
    for (std::uint64_t id = 0; id < messages; ++id) box.in().push(0, {.id = id}, 0);
  }
};

TEST_F(CompletionTest, LatencyUntilSoftwareSeesTheEntry) {
  Taker<Cqe> software("software", bench.wheel, polled);
  complete(1);
  bench.run_until(1000 * kNs);
  ASSERT_EQ(software.times.size(), 1U);
  // 7 ns of its own, 2 ns of pcie_dma, 64 B on the line, 400 ns until they are visible, 50 ns until they are polled.
  EXPECT_GE(software.times[0], 459 * kNs);
  EXPECT_LE(software.times[0], 461 * kNs);
}

TEST_F(CompletionTest, OneWritePerInterval) {
  Taker<Cqe> software("software", bench.wheel, polled);
  complete(3);
  bench.run_until(1000 * kNs);
  ASSERT_EQ(software.times.size(), 3U);
  EXPECT_EQ(software.times[1] - software.times[0], 30 * kNs);
  EXPECT_EQ(software.times[2] - software.times[1], 30 * kNs);
  EXPECT_EQ(bench.nic.box_counters.cqe_writes, 3U);
}

struct Deep : CompletionTest {
  Deep() : CompletionTest(with_long_latency()) {}
  static ScenarioConfig with_long_latency() {
    ScenarioConfig scenario = completion_config();
    scenario.node_default.nic.completion.pipeline = {.latency_cycles = 90, .initiation_interval_cycles = 30};
    return scenario;
  }
};

TEST_F(Deep, ALongLatencyDelaysEntriesAndTakesNoRate) {
  Taker<Cqe> software("software", bench.wheel, polled);
  complete(4);
  bench.run_until(2000 * kNs);
  ASSERT_EQ(software.times.size(), 4U);
  EXPECT_GE(software.times[0], 542 * kNs);
  EXPECT_LE(software.times[0], 544 * kNs);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(software.times[i] - software.times[i - 1], 30 * kNs);
}

TEST_F(CompletionTest, WaitsForRoomInTheHostsQueueAndIsChargedToIt) {
  Taker<Cqe> software("software", bench.wheel, polled, 2000 * kNs);
  complete(5);
  bench.run_until(1999 * kNs);
  EXPECT_EQ(box.in().size(), 1U);
  bench.run_until(3000 * kNs);
  EXPECT_EQ(software.times.size(), 5U);
  box.slot.finish(3000 * kNs);
  const TimePs blocked = bench.blocked_ps(box.slot, "completion.cq_entries");
  EXPECT_GT(blocked, 1800 * kNs);
  EXPECT_LT(blocked, 2000 * kNs);
}

struct Moderated : CompletionTest {
  Moderated() : CompletionTest(with_moderation()) {}
  static ScenarioConfig with_moderation() {
    ScenarioConfig scenario = completion_config();
    scenario.node_default.nic.completion.moderation_count = 4;
    scenario.node_default.nic.completion.moderation_us = 1;
    return scenario;
  }
};

TEST_F(Moderated, GathersEntriesAndIsChargedToModeration) {
  Taker<Cqe> software("software", bench.wheel, polled);
  complete(2);
  bench.run_until(2000 * kNs);
  ASSERT_EQ(software.times.size(), 2U);
  EXPECT_EQ(software.times[0], software.times[1]);
  EXPECT_GE(software.times[0], 1459 * kNs);
  EXPECT_EQ(bench.nic.box_counters.cqe_writes, 1U);
  box.slot.finish(2000 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "completion.moderation"), 1000 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
