#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "pcie/pcie_dma.h"
#include "pcie_bench.h"

namespace mrc {
namespace {

double read_gbps(const PcieConfig& config, std::uint32_t bytes, std::uint64_t offset = 0, int count = 20'000) {
  pcie_bench::Bench<pcie_bench::Reader> bench("reads", config, bytes, offset, count);
  pcie_bench::run();
  return bench.load().gbps();
}

TEST(PcieDma, Gen6ReadsReachTheLawOfTheLink) {
  PcieConfig config;
  const PcieLaw law = pcie_law(config);
  const double limit = law.gbps * 256.0 / (256.0 + law.completion_overhead);
  EXPECT_NEAR(law.gbps, 944.0, 1e-9);
  EXPECT_GT(read_gbps(config, 4096), 0.985 * limit);
}

TEST(PcieDma, Gen6ReadsOffTheAlignmentCostOneRequestMore) {
  PcieConfig config;
  EXPECT_GT(read_gbps(config, 4096, 64), 800.0);
}

TEST(PcieDma, TooFewTagsLimitByLatency) {
  PcieConfig config;
  config.read_tags = 64;
  // 64 tags of 512 B in 1.0 us mean latency: Little's law.
  EXPECT_NEAR(read_gbps(config, 4096), 64 * 512 * 8 / 1000.0, 15.0);
}

TEST(PcieDma, TooSmallACompletionBufferLimitsAlike) {
  PcieConfig config;
  config.completion_buffer_bytes = 32768;
  const double gbps = read_gbps(config, 4096);
  EXPECT_LT(gbps, 262.0);
  EXPECT_GT(gbps, 100.0);
}

TEST(PcieDma, WritesFollowTheLawAndThePostedCredits) {
  PcieConfig config;
  WheelModule wheel("wheel", KernelMode::wheel, 100'000);
  WorkClock work;
  const ClockDomain clock(1.0);
  PcieDma pcie("pcie", wheel, config, clock, KeyedRandom(1, "pcie"), work);
  const auto rate = [&](int count) {
    TimePs time = 0;
    for (int i = 0; i < count; ++i) time = pcie.write(time, static_cast<std::uint64_t>(i) * 4096, 4096).last_end;
    return count * 4096 * 8000.0 / static_cast<double>(time);
  };
  EXPECT_NEAR(rate(10'000), 944.0 * 256 / 272, 1.0);
}

TEST(PcieDma, FewPostedCreditsLimitByTheirReturn) {
  PcieConfig config;
  config.posted_header_credits = 16;
  WheelModule wheel("wheel", KernelMode::wheel, 100'000);
  WorkClock work;
  PcieDma pcie("pcie", wheel, config, ClockDomain(1.0), KeyedRandom(1, "pcie"), work);
  TimePs time = 0;
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i) time = pcie.write(time, static_cast<std::uint64_t>(i) * 4096, 4096).last_end;
  // 16 TLPs of 256 B a credit round trip: their return latency and the time of one TLP.
  const double round_trip_ns = 300.0 + 272 * 8 / 944.0;
  EXPECT_NEAR(count * 4096 * 8000.0 / static_cast<double>(time), 16 * 256 * 8 / round_trip_ns, 1.0);
}

TEST(LatencyDistribution, HasTheMeanAndTheP99ThatItWasGiven) {
  const LatencyDistribution distribution(1000.0, 1600.0);
  KeyedRandom random(7, "latency");
  std::vector<TimePs> draws(200'000);
  double sum = 0;
  for (TimePs& draw : draws) sum += static_cast<double>(draw = distribution.draw(random));
  std::sort(draws.begin(), draws.end());
  EXPECT_NEAR(sum / static_cast<double>(draws.size()), 1'000'000.0, 3000.0);
  EXPECT_NEAR(static_cast<double>(draws[draws.size() * 99 / 100]), 1'600'000.0, 16'000.0);
}

}  // namespace
}  // namespace mrc
