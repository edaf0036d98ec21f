// The parts of the host in runs of two NICs: what limits is named, and without them nothing changes.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "two_nics.h"

namespace mrc {
namespace {

ScenarioConfig by_reference() {
  ScenarioConfig scenario = pair();
  scenario.node_default.host.payload = PayloadMode::reference;
  return scenario;
}

RunResult long_run(const ScenarioConfig& scenario) {
  return run(scenario, writes(160, 1 << 20));
}

/// A long run in which one of the two NICs is set up otherwise.
template <typename Change>
RunResult run_with(ScenarioConfig scenario, NodeId node, Change change) {
  NodeConfig changed = scenario.node_default;
  change(changed);
  scenario.node_override[node] = changed;
  return long_run(scenario);
}

void with_few_walkers(NodeConfig& node) {
  node.host.iommu.iotlb_entries = 16;
  node.host.iommu.walkers = 2;
}

void with_few_pages(NodeConfig& node) {
  node.pcie.memory_table.page_entries = 4;
  node.pcie.memory_table.pages_per_read = 1;
  node.pcie.memory_table.outstanding_misses = 4;
}

constexpr NodeId kSender = 0;
constexpr NodeId kReceiver = 1;

/// The first cause of a run that is not framing or control.
std::string first_cause(const RunResult& result) {
  for (const LimitResult& limit : result.limits) {
    fmt::print("{:8.2f} Gb/s {}\n", limit.gbps, limit.cause);
  }
  return result.limits.empty() ? "" : result.limits.front().cause;
}

TEST(HostRun, TheIommuOfTheSenderIsNamedWhereItsWalkersLimit) {
  const RunResult result = run_with(by_reference(), kSender, with_few_walkers);
  // A walk of 330 ns per page of 4 KiB, two at a time.
  EXPECT_NEAR(result.goodput_gbps, 4096 * 8 * 2 / 330.0, 20);
  EXPECT_EQ(first_cause(result), "host.iommu");
}

TEST(HostRun, TheIommuOfTheReceiverIsNamedWhereItsWalkersLimit) {
  const RunResult result = run_with(by_reference(), kReceiver, with_few_walkers);
  EXPECT_LT(result.goodput_gbps, 4096 * 8 * 2 / 330.0 + 20);
  EXPECT_EQ(first_cause(result), "receiver.host.iommu");
}

TEST(HostRun, MemoryOfTheSenderIsNamedWhereItLimits) {
  const RunResult result = run_with(by_reference(), kSender, [](NodeConfig& sender) { sender.host.memory.gbps = 300; });
  EXPECT_NEAR(result.goodput_gbps, 300, 10);
  EXPECT_EQ(first_cause(result), "host.memory");
}

TEST(HostRun, TheLinkBetweenSocketsIsNamedWhereItLimits) {
  const RunResult result = run_with(by_reference(), kSender, [](NodeConfig& sender) {
    sender.host.numa = {.remote_share = 1, .remote_ns = 100, .link_gbps = 250};
  });
  EXPECT_NEAR(result.goodput_gbps, 250, 10);
  EXPECT_EQ(first_cause(result), "host.numa_link");
}

TEST(HostRun, TheRootComplexIsNamedWhereItLimits) {
  const RunResult result =
      run_with(by_reference(), kSender, [](NodeConfig& sender) { sender.host.root_complex.outstanding_reads = 64; });
  // 64 requests of 512 B, each of which takes about 1 us.
  EXPECT_NEAR(result.goodput_gbps, 64 * 512 * 8 / 1000.0, 20);
  EXPECT_EQ(first_cause(result), "host.root_complex");
}

TEST(HostRun, TheUplinkOfTheSwitchIsNamedWhereItLimits) {
  const RunResult result = run_with(by_reference(), kSender, [](NodeConfig& sender) {
    sender.host.pcie_switch = {.latency_ns = 100, .uplink_gbps = 500, .other_load_gbps = 200};
  });
  EXPECT_NEAR(result.goodput_gbps, 300, 10);
  EXPECT_EQ(first_cause(result), "host.pcie_switch");
}

TEST(HostRun, AnAcceleratorsMemoryIsNamedWhereItLimits) {
  ScenarioConfig scenario = by_reference();
  scenario.accelerator.payload_memory = PayloadMemory::gpu_direct;
  const RunResult result = run_with(scenario, kSender, [](NodeConfig& sender) {
    sender.host.pcie_switch = {.latency_ns = 100, .uplink_gbps = 50};
    sender.host.peer = {.way = PeerWay::pcie_switch, .read_ns = 500, .read_gbps = 300};
  });
  // Across the switch: the uplink, which WQEs take, is too slow for the payload.
  EXPECT_NEAR(result.goodput_gbps, 300, 10);
  EXPECT_EQ(first_cause(result), "host.peer");
}

TEST(HostRun, TheMemoryTableOfTheSenderIsNamedWhereItsMissesLimit) {
  const RunResult result = run_with(by_reference(), kSender, with_few_pages);
  // Four reads of the table per microsecond, a page each.
  EXPECT_NEAR(result.goodput_gbps, 4096 * 8 * 4 / 1000.0, 20);
  EXPECT_EQ(first_cause(result), "pcie.memory_table");
}

TEST(HostRun, TheMemoryTableOfTheReceiverIsNamedWhereItsMissesLimit) {
  const RunResult result = run_with(by_reference(), kReceiver, with_few_pages);
  EXPECT_LT(result.goodput_gbps, 4096 * 8 * 4 / 1000.0 + 20);
  // Packets that find no room wait for misses too, and are lost for the sender's window.
  double gbps = 0;
  for (const LimitResult& limit : result.limits) {
    if (limit.cause == "receiver.pcie.memory_table") gbps = limit.gbps;
  }
  EXPECT_GT(gbps, 200) << first_cause(result);
}

TEST(HostRun, LookupsAndDeregistrationDeliverEveryByteOnce) {
  ScenarioConfig scenario = pair();
  PcieConfig& pcie = scenario.node_default.pcie;
  pcie.memory_table.page_entries = 64;
  pcie.memory_table.key_entries = 4;
  pcie.memory_table.deregister_every_us = 2;
  pcie.address_translation.entries = 32;
  pcie.address_translation.request = TranslationRequest::link;
  pcie.relaxed_ordering = true;
  scenario.node_default.host.iommu.iotlb_entries = 16;
  scenario.accelerator.payload_memory = PayloadMemory::gpu_direct;
  scenario.node_default.host.peer.write_gbps = 600;
  const RunResult result = run(scenario, writes(8, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.bytes.corrupted, 0U);
  EXPECT_GT(result.goodput_gbps, 20);
}

TEST(HostRun, AllPartsTogetherDeliverEveryByteOnceInBothKernelModes) {
  ScenarioConfig scenario = pair();
  HostConfig& host = scenario.node_default.host;
  host.iommu.iotlb_entries = 64;
  host.cache.bytes = 2560 << 10;
  host.memory.gbps = 2000;
  host.memory.refresh_ns = 300;
  host.numa.remote_share = 0.5;
  host.root_complex.outstanding_reads = 400;
  const RunResult wheel = run(scenario, writes(8, 1 << 20));
  EXPECT_EQ(wheel.status, RunStatus::complete);
  EXPECT_EQ(wheel.bytes.corrupted, 0U);
  EXPECT_GT(wheel.goodput_gbps, 50);
}

/// 64 requests of 512 B at a time, 1 us where the cache has the data and 2 us where it has not.
ScenarioConfig with_cache(CacheState state) {
  ScenarioConfig scenario = by_reference();
  scenario.node_default.pcie.read_tags = 64;
  HostCacheConfig& cache = scenario.node_default.host.cache;
  cache.bytes = 64ULL * 20 * (1 << 16);
  cache.miss_ns = 1000;
  cache.state = state;
  return scenario;
}

TEST(HostRun, InAColdCacheReadsOfTheNicMiss) {
  EXPECT_NEAR(long_run(with_cache(CacheState::cold)).goodput_gbps, 64 * 512 * 8 / 2000.0, 10);
}

TEST(HostRun, InAWarmCacheTheyHit) {
  EXPECT_NEAR(long_run(with_cache(CacheState::warm)).goodput_gbps, 64 * 512 * 8 / 1000.0, 15);
}

}  // namespace
}  // namespace mrc
