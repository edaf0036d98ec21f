#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "pcie/pcie_dma.h"

namespace mrc {
namespace {

/// Keeps the read queue full of reads of one size and frees the completion buffer as they are reported.
class Reader : public Box, public ReadClient {
 public:
  Reader(const char* name, WheelModule& owner, PcieDma& pcie, std::uint32_t bytes, std::uint64_t offset, int count)
      : Box(name, owner), pcie_(pcie), bytes_(bytes), offset_(offset), count_(count) {}
  void step(TimePs now) override {
    while (issued_ < count_ && pcie_.can_read()) {
      const auto index = static_cast<std::uint64_t>(issued_++);
      pcie_.read(now, index * 8192 + offset_, bytes_, *this, index, true);
    }
    if (issued_ < count_) pcie_.wait_read_room(now, *this);
  }
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override {
    EXPECT_EQ(cookie, order_++);
    EXPECT_GE(done_at, now);
    last_done = done_at;
    if (cookie == 0) first_done = done_at;
    pcie_.release_completion_buffer(now, bytes_);
  }
  TimePs first_done = 0;
  TimePs last_done = 0;
  std::uint64_t done() const { return order_; }

 private:
  PcieDma& pcie_;
  std::uint32_t bytes_;
  std::uint64_t offset_;
  int count_;
  int issued_ = 0;
  std::uint64_t order_ = 0;
};

double read_gbps(const PcieConfig& config, std::uint32_t bytes, std::uint64_t offset = 0, int count = 20'000) {
  WheelModule wheel("wheel", KernelMode::wheel, 100'000);
  WorkClock work;
  const ClockDomain clock(1.0);
  PcieDma pcie("pcie", wheel, config, clock, KeyedRandom(1, "pcie"), work);
  Reader reader("reader", wheel, pcie, bytes, offset, count);
  reader.wake_at(0);
  sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_MS));
  EXPECT_EQ(reader.done(), static_cast<std::uint64_t>(count));
  return static_cast<double>(count - 1) * bytes * 8000.0 / static_cast<double>(reader.last_done - reader.first_done);
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

TEST(PcieLaw, Gen3x8IsThePublishedRate) {
  PcieConfig config;
  config.generation = 3;
  config.lanes = 8;
  EXPECT_NEAR(pcie_law(config).gbps, 57.88, 0.1);
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
