#include "transports/ideal/ideal_fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "one_collective.h"
#include "parameters/scenario.h"
#include "traffic/nic_lanes.h"
#include "traffic/prepare_job.h"

namespace mrc {
namespace {

const std::atomic<bool> kNotInterrupted{false};

ScenarioConfig scenario_of(std::uint32_t ranks) {
  ScenarioConfig scenario;
  scenario.node_default.transport = "ideal";
  scenario.fabric.nics = std::max(ranks, 2U);
  scenario.accelerator.kernel_launch_ns = 0;
  scenario.accelerator.collective_launch_ns = 0;
  return scenario;
}

RunResult play(const ScenarioConfig& scenario, const Workload& workload) {
  return run_ideal(scenario, workload, place_ranks(scenario, workload.ranks), kNotInterrupted);
}

double us(TimePs time) {
  return static_cast<double>(time) / 1e6;
}

struct Law {
  CollectiveKind kind;
  CollectiveOptions options;
  /// Latency terms and serialized buffers of the closed form.
  double (*time)(double n, double latency, double buffer);
};

class ClosedForm : public ::testing::TestWithParam<std::tuple<int, std::uint32_t>> {};

const std::vector<Law>& laws() {
  static const std::vector<Law> all{
      {CollectiveKind::all_reduce, {}, [](double n, double l, double b) { return 2 * (n - 1) * (l + b / n); }},
      {CollectiveKind::all_reduce,
       {.channels = 2},
       // One channel's latency hides behind the other's data.
       [](double n, double l, double b) {
         return 2 * (n - 1) * std::max(b / n, l + b / n / 2) + std::min(l, b / n / 2);
       }},
      {CollectiveKind::all_reduce,
       {.all_reduce = AllReduceAlgorithm::halving_doubling},
       [](double n, double l, double b) { return 2 * std::log2(n) * l + 2 * b * (n - 1) / n; }},
      {CollectiveKind::all_reduce,
       {.all_reduce = AllReduceAlgorithm::hierarchical, .ranks_per_host = 4},
       [](double n, double l, double b) {
         const double hosts = n / 4;
         return 2 * 3 * (l + b / 4) + 2 * (hosts - 1) * (l + b / 4 / hosts);
       }},
      {CollectiveKind::all_gather, {}, [](double n, double l, double b) { return (n - 1) * (l + b / n); }},
      {CollectiveKind::reduce_scatter, {}, [](double n, double l, double b) { return (n - 1) * (l + b / n); }},
      {CollectiveKind::all_to_all, {}, [](double n, double l, double b) { return l + (n - 1) * b / n; }},
      {CollectiveKind::broadcast, {}, [](double n, double l, double b) { return (n - 1) * (l + b); }},
      {CollectiveKind::reduce, {}, [](double n, double l, double b) { return (n - 1) * (l + b); }},
      {CollectiveKind::gather, {}, [](double n, double l, double b) { return l + (n - 1) * b / n; }},
      {CollectiveKind::scatter, {}, [](double n, double l, double b) { return l + (n - 1) * b / n; }},
  };
  return all;
}

/// Large buffers, so that the last acknowledgement's way back, which the end waits for, is far below the tolerance.
TEST_P(ClosedForm, WithinOnePercent) {
  const auto& [number, ranks] = GetParam();
  const Law& law = laws()[static_cast<std::size_t>(number)];
  ScenarioConfig scenario = scenario_of(ranks);
  scenario.traffic.collective = law.options;
  constexpr std::uint64_t bytes = 256ULL << 20;
  const RunResult result = play(scenario, one_collective_unexpanded(law.kind, ranks, bytes));
  ASSERT_EQ(result.status, RunStatus::complete);
  const double latency = us(ideal_latency_ps(scenario, bytes));
  const double buffer = us(ideal_serialization_ps(scenario, 0, bytes));
  const double expected = law.time(ranks, latency, buffer);
  ASSERT_EQ(result.job.collectives.size(), 1U);
  const JobResult::CollectiveRow& row = result.job.collectives.front();
  EXPECT_NEAR(row.time_us.mean / expected, 1.0, 0.01) << row.time_us.mean << " us, closed form " << expected;
  // The NCCL tests' formulas.
  EXPECT_NEAR(row.algorithm_bandwidth_gbps, static_cast<double>(bytes) * 8e-3 / row.time_us.mean, 1e-9);
  EXPECT_NEAR(row.bus_bandwidth_gbps, row.algorithm_bandwidth_gbps * bus_bandwidth_factor(law.kind, ranks), 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Laws, ClosedForm,
                         ::testing::Combine(::testing::Range(0, 11), ::testing::Values(4U, 8U, 16U, 32U)));

TEST(IdealFabric, ATreeIsPipelined) {
  // A rank that is inside one tree gets halves from two children there and sends to its parent and back to both: with
  // many chunks the busiest rank's NIC sets the time, not the depth of the tree.
  ScenarioConfig scenario = scenario_of(16);
  scenario.traffic.collective = {.all_reduce = AllReduceAlgorithm::double_binary_tree, .chunk_bytes = 1 << 20};
  constexpr std::uint64_t bytes = 256ULL << 20;
  const CollectiveSchedule plan = make_schedule(CollectiveKind::all_reduce, bytes, 16, 0, scenario.traffic.collective);
  std::vector<std::uint64_t> sent(16);
  std::vector<std::uint64_t> received(16);
  for (const Transfer& t : plan.transfers) {
    sent[t.source] += t.bytes;
    received[t.destination] += t.bytes;
  }
  const std::uint64_t busiest =
      std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end()));
  const RunResult result = play(scenario, one_collective_unexpanded(CollectiveKind::all_reduce, 16, bytes));
  const double bound = us(ideal_serialization_ps(scenario, 0, busiest));
  EXPECT_GT(result.job.step_time_us, bound);
  EXPECT_LT(result.job.step_time_us, 1.4 * bound);
}

TEST(IdealFabric, NothingEndsAfterTheTimeThatTheRunHas) {
  ScenarioConfig scenario = scenario_of(8);
  const Workload work = one_collective_unexpanded(CollectiveKind::all_to_all, 8, 8 << 20);
  const double whole = play(scenario, work).simulated_time_us;
  for (const double share : {0.01, 0.3, 0.9, 0.999}) {
    scenario.run.max_time_us = share * whole;
    const RunResult cut = play(scenario, work);
    EXPECT_EQ(cut.status, RunStatus::partial) << share;
    EXPECT_NEAR(cut.simulated_time_us, scenario.run.max_time_us, 1e-6);
  }
  scenario.run.max_time_us = whole + 1;
  EXPECT_EQ(play(scenario, work).status, RunStatus::complete);
}

TEST(IdealFabric, ABarrierTakesALatencyAStep) {
  const ScenarioConfig scenario = scenario_of(12);
  const RunResult result = play(scenario, one_collective_unexpanded(CollectiveKind::barrier, 12, 0));
  const double step = us(ideal_latency_ps(scenario, 1));
  EXPECT_GT(result.job.step_time_us, 4 * step);
  EXPECT_LT(result.job.step_time_us, 5 * step + 1);
}

TEST(IdealFabric, APacedExchangeKeepsItsWindow) {
  ScenarioConfig scenario = scenario_of(8);
  scenario.traffic.collective = {.all_to_all = AllToAllAlgorithm::paced, .window = 1};
  const RunResult paced = play(scenario, one_collective_unexpanded(CollectiveKind::all_to_all, 8, 8 << 20));
  const double message = us(ideal_serialization_ps(scenario, 0, 1 << 20)) + us(ideal_latency_ps(scenario, 1 << 20));
  // The bound has the shortest PCIe read, ideal_latency_ps() the mean one.
  EXPECT_GT(paced.job.step_time_us, 0.9 * 7 * message);
  scenario.traffic.collective.window = 7;
  const RunResult whole = play(scenario, one_collective_unexpanded(CollectiveKind::all_to_all, 8, 8 << 20));
  EXPECT_LT(whole.job.step_time_us, 0.75 * paced.job.step_time_us);
}

Workload step_of_one(std::uint32_t ranks) {
  WorkloadBuilder builder;
  WorkNode node;
  std::uint32_t last = kNoWork;
  const std::vector<std::uint32_t> pair{0, 1};
  std::vector<std::uint32_t> across;
  for (std::uint32_t r = 0; r < ranks; r += 2) across.push_back(r);
  for (int layer = 0; layer < 3; ++layer) {
    for (const auto& [kind, group] : {std::pair{CollectiveKind::all_gather, pair},
                                      {CollectiveKind::all_to_all, across},
                                      {CollectiveKind::all_reduce, across},
                                      {CollectiveKind::barrier, pair}}) {
      node = {};
      node.duration = 50'000'000;
      node.stream = kComputeStream;
      const std::uint32_t compute = builder.add(node);
      if (last != kNoWork) builder.depend(compute, last);
      node = {};
      node.kind = WorkKind::collective;
      node.match =
          builder.collective({kind, kind == CollectiveKind::barrier ? 0 : 48ULL << 20, builder.group(group), 0});
      last = builder.add(node);
      builder.depend(last, compute);
    }
  }
  Workload w = builder.finish(ranks);
  w.same_on_all_ranks = true;
  return w;
}

TEST(IdealFabric, OneRankStandsForAllThatAreAlike) {
  const ScenarioConfig scenario = scenario_of(12);
  const Workload one = step_of_one(12);
  const RunResult folded = run_ideal(scenario, one, std::vector<NodeId>(12, 0), kNotInterrupted);
  const RunResult whole = play(scenario, replicate(one));
  EXPECT_EQ(folded.status, RunStatus::complete);
  EXPECT_DOUBLE_EQ(folded.job.step_time_us, whole.job.step_time_us);
  EXPECT_EQ(folded.messages.count, whole.messages.count);
  EXPECT_EQ(folded.bytes.delivered, whole.bytes.delivered);
  EXPECT_EQ(folded.job.ranks_played, 1U);
  ASSERT_EQ(folded.job.collectives.size(), whole.job.collectives.size());
  for (std::size_t i = 0; i < folded.job.collectives.size(); ++i)
    EXPECT_DOUBLE_EQ(folded.job.collectives[i].time_us.mean, whole.job.collectives[i].time_us.mean);
  EXPECT_DOUBLE_EQ(folded.job.exposed_communication_us.mean, whole.job.exposed_communication_us.mean);
}

class SeveralNics : public ::testing::TestWithParam<std::tuple<NicChoice, AllReduceAlgorithm>> {};
TEST_P(SeveralNics, OneRankStandsForAllAlsoWithSeveralNicsEach) {
  ScenarioConfig scenario = scenario_of(24);
  scenario.traffic.nics_per_rank = 2;
  scenario.traffic.nic_choice = std::get<0>(GetParam());
  scenario.traffic.collective.all_reduce = std::get<1>(GetParam());
  scenario.traffic.collective.ranks_per_host = 2;
  scenario.traffic.collective.channels = 3;
  const Workload one = step_of_one(12);
  const RunResult folded = run_ideal(scenario, one, std::vector<NodeId>(24, 0), kNotInterrupted);
  const RunResult whole = play(scenario, replicate(one));
  // Three channels leave shares that differ by a byte; one rank represents all with the longest.
  EXPECT_NEAR(folded.job.step_time_us / whole.job.step_time_us, 1, 1e-6);
  EXPECT_EQ(folded.messages.count, whole.messages.count);
  EXPECT_NEAR(static_cast<double>(folded.bytes.delivered) / static_cast<double>(whole.bytes.delivered), 1, 1e-6);
  for (std::size_t i = 0; i < whole.nodes.size(); ++i)
    EXPECT_NEAR(folded.nodes[i].tx_gbps / whole.nodes[i].tx_gbps, 1, 1e-6) << i;
}
INSTANTIATE_TEST_SUITE_P(Choices, SeveralNics,
                         ::testing::Combine(::testing::Values(NicChoice::channel, NicChoice::stripe),
                                            ::testing::Values(AllReduceAlgorithm::ring,
                                                              AllReduceAlgorithm::hierarchical)));

/// By channels 2 NICs carry 2 channels side by side; striped, they are one NIC of twice the rate.
TEST(IdealFabric, TwoNicsARankMeetTheClosedForm) {
  constexpr std::uint64_t bytes = 256ULL << 20;
  constexpr double n = 8;
  const Workload work = one_collective_unexpanded(CollectiveKind::all_reduce, 8, bytes);
  ScenarioConfig scenario = scenario_of(16);
  const double latency = us(ideal_latency_ps(scenario, bytes));
  const double buffer = us(ideal_serialization_ps(scenario, 0, bytes));
  const double one_nic = 2 * (n - 1) * (latency + buffer / n);
  const double two_nics = 2 * (n - 1) * (latency + buffer / n / 2);
  scenario.traffic.nics_per_rank = 2;
  EXPECT_NEAR(play(scenario, work).job.step_time_us / one_nic, 1, 0.01) << "one channel uses one NIC";
  scenario.traffic.collective.channels = 2;
  EXPECT_NEAR(play(scenario, work).job.step_time_us / two_nics, 1, 0.01);
  scenario.traffic.collective.channels = 1;
  scenario.traffic.nic_choice = NicChoice::stripe;
  EXPECT_NEAR(play(scenario, work).job.step_time_us / two_nics, 1, 0.01);
}

TEST(IdealFabric, StagedPayloadIsCopiedBeforeAndAfter) {
  ScenarioConfig scenario = scenario_of(2);
  const Workload work = one_collective_unexpanded(CollectiveKind::broadcast, 2, 64 << 20);
  const double direct = play(scenario, work).job.step_time_us;
  scenario.accelerator.payload_memory = PayloadMemory::staged;
  scenario.accelerator.copy_gbps = 200;
  scenario.accelerator.copy_latency_ns = 3'000;
  EXPECT_NEAR(play(scenario, work).job.step_time_us - direct, 2 * (3 + (64 << 20) * 8 / 200e3), 1e-3);
  scenario.accelerator.payload_memory = PayloadMemory::gpu_direct;
  scenario.accelerator.direct_read_ns = 250;
  scenario.accelerator.direct_flush_ns = 750;
  EXPECT_NEAR(play(scenario, work).job.step_time_us - direct, 1.0, 1e-3);
}

TEST(IdealFabric, AsMessagesACollectiveTakesAsLongAsWhole) {
  ScenarioConfig scenario = scenario_of(6);
  const Workload whole = one_collective_unexpanded(CollectiveKind::all_reduce, 6, 24 << 20);
  const Workload messages = one_collective(CollectiveKind::all_reduce, 6, 24 << 20, {});
  EXPECT_DOUBLE_EQ(play(scenario, whole).job.step_time_us, play(scenario, messages).job.step_time_us);
  EXPECT_DOUBLE_EQ(play(scenario, whole).job.collectives[0].time_us.mean,
                   play(scenario, messages).job.collectives[0].time_us.mean);
}

TEST(IdealFabric, OverlapExposureAndStragglers) {
  // Rank 0 computes 100 us beside a message; rank 1 computes 40 us more than rank 0 before it may go on.
  WorkloadBuilder builder;
  WorkNode node;
  node.stream = kComputeStream;
  node.duration = 100 * kPsPerUs;
  builder.add(node);
  node = {};
  node.kind = WorkKind::send;
  node.peer = 1;
  node.bytes = 4 << 20;
  builder.add(node);
  node = {};
  node.rank = 1;
  node.stream = kComputeStream;
  node.duration = 70 * kPsPerUs;
  builder.add(node);
  builder.add(node);
  ScenarioConfig scenario = scenario_of(2);
  const RunResult r = play(scenario, builder.finish(2));
  EXPECT_NEAR(r.job.step_time_us, 140, 1e-6) << "one stream, one after another";
  EXPECT_EQ(r.job.straggler_rank, 1U);
  EXPECT_NEAR(r.job.compute_us.mean, 120, 1e-6);
  EXPECT_NEAR(r.job.exposed_communication_us.max, 0, 1e-6) << "hidden behind rank 0's computation";
  EXPECT_GT(r.job.communication_us.max, us(ideal_serialization_ps(scenario, 0, 4 << 20)));
}

TEST(IdealFabric, RanksOfOneNicUseTheScaleUpFabric) {
  ScenarioConfig scenario = scenario_of(2);
  scenario.traffic.ranks_per_nic = 4;
  scenario.accelerator.scale_up_gbps = 8000;
  scenario.accelerator.scale_up_latency_ns = 500;
  const RunResult r = play(scenario, one_collective_unexpanded(CollectiveKind::all_to_all, 4, 4'000'000));
  EXPECT_NEAR(r.job.step_time_us, 0.5 + 1.0, 0.01) << "1 MB to each at 1 B/ps";
  EXPECT_EQ(r.nodes[0].tx_gbps, 0);
}

TEST(Placement, LinearRailsAndLists) {
  ScenarioConfig scenario = scenario_of(8);
  EXPECT_EQ(place_ranks(scenario, 4), (std::vector<NodeId>{0, 1, 2, 3}));
  scenario.traffic.ranks_per_nic = 2;
  EXPECT_EQ(place_ranks(scenario, 4), (std::vector<NodeId>{0, 0, 1, 1}));
  scenario.traffic.placement = "rails";
  scenario.traffic.collective.ranks_per_host = 4;
  EXPECT_EQ(place_ranks(scenario, 8), (std::vector<NodeId>{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_ANY_THROW(place_ranks(scenario, 6));
  scenario.traffic.placement = "3,0,2";
  EXPECT_EQ(place_ranks(scenario, 3), (std::vector<NodeId>{3, 0, 2}));
  EXPECT_ANY_THROW(place_ranks(scenario, 4));
  scenario = scenario_of(8);
  scenario.traffic.nics_per_rank = 2;
  EXPECT_EQ(place_ranks(scenario, 2), (std::vector<NodeId>{0, 1, 2, 3}));
  scenario.traffic.placement = "rails";
  scenario.traffic.collective.ranks_per_host = 2;
  EXPECT_EQ(place_ranks(scenario, 4), (std::vector<NodeId>{0, 2, 4, 6, 1, 3, 5, 7})) << "rail r is NIC 2r and 2r + 1";
  scenario.traffic.placement = "3,0,2,1";
  EXPECT_EQ(place_ranks(scenario, 2), (std::vector<NodeId>{3, 0, 2, 1}));
  EXPECT_ANY_THROW(place_ranks(scenario, 3));
  scenario.traffic.placement = "random";
  EXPECT_ANY_THROW(place_ranks(scenario, 3));
}

TEST(Lanes, AMessageIsStripedWithoutLosingAByteOrAnEdge) {
  WorkloadBuilder builder;
  WorkNode node;
  const std::uint32_t before = builder.add(node);
  node = {};
  node.kind = WorkKind::send;
  node.peer = 1;
  node.bytes = 1'000'001;
  const std::uint32_t send = builder.add(node);
  node.kind = WorkKind::receive;
  std::swap(node.rank, node.peer);
  const std::uint32_t receive = builder.add(node);
  node = {};
  node.rank = 1;
  const std::uint32_t after = builder.add(node);
  builder.match(send, receive);
  builder.depend(send, before);
  builder.depend(after, receive);
  const Workload striped = stripe(builder.finish(2), 4);
  ASSERT_EQ(striped.nodes.size(), 10U);
  EXPECT_EQ(striped.sends(), 4U);
  EXPECT_EQ(striped.bytes(), 1'000'001U);
  EXPECT_EQ(striped.nodes.back().dependencies, 4U);
  for (std::uint32_t i = 1; i < 5; ++i) {
    EXPECT_EQ(striped.nodes[i].lane, i - 1);
    EXPECT_EQ(striped.nodes[i].dependencies, 1U);
    EXPECT_EQ(striped.nodes[i].match, i + 4);
    EXPECT_EQ(striped.nodes[i + 4].bytes, striped.nodes[i].bytes);
  }
}

TEST(Lanes, MessagesOfATraceTakeTheNicsInTurn) {
  Workload work;
  work.ranks = 2;
  for (std::uint32_t i = 0; i < 6; ++i) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.rank = i / 3;
    node.peer = 1 - i / 3;
    node.bytes = 1;
    work.nodes.push_back(node);
  }
  number_lanes(work);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(work.nodes[i].lane, i % 3);
}

}  // namespace
}  // namespace mrc
