// The simulation as a library: what compares memory must be able to fail, and small runs must add up.
#include "simulation/simulation.h"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "two_nics.h"

namespace mrc {
namespace {

TEST(MemoryComparison, ASkippedCopyIsFoundAlthoughTheBufferHeldAMessageBefore) {
  // 64 messages of 1 MiB reuse 16 buffers: the skipped packet is one of a buffer's third message.
  SimulationOptions options;
  options.skip_memory_write = 256 * 40 + 17;
  const RunResult result = run(pair(), writes(64, 1 << 20), options);
  EXPECT_EQ(result.status, RunStatus::mismatch);
  EXPECT_GT(result.bytes.corrupted, 3'900U);
  EXPECT_LE(result.bytes.corrupted, 4'096U);
  ASSERT_FALSE(result.details.empty());
}

TEST(MemoryComparison, WithoutItTheSameRunIsIntact) {
  const RunResult result = run(pair(), writes(64, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.bytes.corrupted, 0U);
  EXPECT_EQ(result.packets.delivered, 64U * 256);
}

TEST(Messages, OfOneByteAndOfAPrimeNumberOfBytesArrive) {
  Workload workload = writes(100, 4'097);
  workload.nodes[3].bytes = 1'048'573;
  workload.nodes[5].bytes = 1;
  const RunResult result = run(pair(), workload);
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.bytes.delivered, result.bytes.offered);
  EXPECT_EQ(result.packets.delivered, 98U * 2 + 256 + 1);
}

TEST(Messages, LongerThanTheBufferAreCutIntoPieces) {
  ScenarioConfig scenario = pair();
  scenario.traffic.buffer_bytes = 1 << 20;
  const RunResult result = run(scenario, writes(3, 5'000'000));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.messages.completed, 3U);
  EXPECT_EQ(result.bytes.delivered, 15'000'000U);
}

TEST(Congestion, WindowLimitsTheRateOfALongRoundTrip) {
  ScenarioConfig scenario = pair();
  scenario.cc.max_cwnd_bytes = 262'144;
  scenario.fabric.cable_delay_ns = 10'000;
  scenario.cc.base_rtt_ps = 42 * kPsPerUs;
  scenario.protocol.timeout_exponent = 8;
  const RunResult result = run(scenario, writes(64, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  // Four cables of 10 us: 256 KiB a round trip of a little more than 40 us is at most 52 Gb/s.
  EXPECT_LT(result.goodput_gbps, 53.0);
  EXPECT_GT(result.goodput_gbps, 40.0);
  ASSERT_GE(result.limits.size(), 1U);
  EXPECT_EQ(result.limits.front().cause, "cwnd");
}

TEST(RetransmitBuffer, TooFewEntriesAreTheCauseOfTheLoss) {
  ScenarioConfig scenario = pair();
  scenario.node_default.nic.retransmit_buffer.entries = 64;
  const RunResult result = run(scenario, writes(64, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_LT(result.goodput_gbps, 500.0);
  EXPECT_EQ(result.limits.front().cause, "retransmit_buffer.entries");
}

/// In a run of one message of 16 MiB.
void expect_progress_halfway(Fidelity fidelity) {
  ScenarioConfig scenario = pair();
  scenario.node_default.fidelity = fidelity;
  scenario.traffic.buffer_bytes = 16 << 20;
  std::vector<double> shares;
  SimulationOptions options;
  options.progress = [&](const Progress& progress) { shares.push_back(progress.share); };
  const RunResult result = run(scenario, writes(1, 16 << 20), std::move(options));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  const auto halfway = [](double share) { return share > 0.4 && share < 0.6; };
  EXPECT_TRUE(std::any_of(shares.begin(), shares.end(), halfway)) << fmt::format("{}", fmt::join(shares, " "));
}

TEST(Progress, GrowsBeforeTheFirstMessageOfADetailedNicIsComplete) {
  expect_progress_halfway(Fidelity::detailed);
}
TEST(Progress, GrowsBeforeTheFirstMessageOfALightEndpointIsComplete) {
  expect_progress_halfway(Fidelity::endpoint);
}

TEST(LightEndpoints, AMissingWriteIsFoundAlthoughPayloadGoesByReference) {
  ScenarioConfig scenario = pair();
  scenario.node_default.fidelity = Fidelity::endpoint;
  SimulationOptions options;
  options.skip_memory_write = 256 * 40 + 17;
  const RunResult result = run(scenario, writes(64, 1 << 20), options);
  EXPECT_EQ(result.status, RunStatus::mismatch);
  EXPECT_EQ(result.bytes.corrupted, 4'096U);
}

TEST(LightEndpoints, ADetailedAndALightNodeTalkInBothDirections) {
  ScenarioConfig scenario = pair();
  scenario.node_override[1] = scenario.node_default;
  scenario.node_override[1].fidelity = Fidelity::endpoint;
  Workload workload = writes(16, 1 << 20);
  for (std::uint32_t i = 8; i < 16; ++i) std::swap(workload.nodes[i].rank, workload.nodes[i].peer);
  const RunResult result = run(scenario, workload);
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.messages.completed, 16U);
  EXPECT_EQ(result.packets.retransmitted, 0U);
}

}  // namespace
}  // namespace mrc
