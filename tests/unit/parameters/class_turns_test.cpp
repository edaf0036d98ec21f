// Turns among traffic classes, rates of tenants, and their share of the context cache: each against a closed form.
#include "engine/class_turns.h"

#include <gtest/gtest.h>

#include <array>

#include "nic/tx/context_cache.h"
#include "node/tenant_limits.h"

namespace mrc {
namespace {

TrafficClasses weighted(std::uint32_t count, const std::string& weights) {
  TrafficClasses classes;
  classes.count = count;
  classes.scheduling = ClassScheduling::weighted;
  classes.weights = weights;
  return classes;
}

TEST(ClassTurns, StrictIsTheHighestThatIsReady) {
  TrafficClasses classes;
  classes.count = 4;
  const ClassTurns turns(classes, 4096);
  ClassCredit credit;
  EXPECT_EQ(turns.pick(credit, 0b0111, 0b0101), 2U);
  EXPECT_EQ(turns.pick(credit, 0b1000, 0b0001), 0U) << "a higher class that is not ready holds nobody up";
  EXPECT_EQ(turns.pick(credit, 0b0100, 0), ClassTurns::kNone);
}

TEST(ClassTurns, SharesOfTheBytesAreTheWeightsWhateverTheSizes) {
  const ClassTurns turns(weighted(3, "1,2,5"), 4096);
  ClassCredit credit;
  std::array<std::int64_t, 3> sent{};
  const std::array<std::int64_t, 3> packet{4096, 300, 1500};
  for (std::int64_t all = 0; all < 100'000'000;) {
    const std::uint32_t c = turns.pick(credit, 0b111, 0b111);
    ASSERT_LT(c, 3U);
    turns.charge(credit, c, packet[c]);
    sent[c] += packet[c];
    all += packet[c];
  }
  const auto all = static_cast<double>(sent[0] + sent[1] + sent[2]);
  EXPECT_NEAR(static_cast<double>(sent[0]) / all, 1.0 / 8, 1e-3);
  EXPECT_NEAR(static_cast<double>(sent[1]) / all, 2.0 / 8, 1e-3);
  EXPECT_NEAR(static_cast<double>(sent[2]) / all, 5.0 / 8, 1e-3);
}

TEST(ClassTurns, AClassWhosePacketsAreOnTheirWayKeepsItsShare) {
  const ClassTurns turns(weighted(2, "1,3"), 1000);
  ClassCredit credit;
  std::uint32_t nobody = 0;
  for (int i = 0; i < 40; ++i) {
    // Class 1 is ready every other time.
    const std::uint32_t c = turns.pick(credit, 0b11, i % 2 == 0 ? 0b11 : 0b01);
    if (c == ClassTurns::kNone) {
      ++nobody;
    } else {
      turns.charge(credit, c, 1000);
    }
  }
  EXPECT_GT(nobody, 0U) << "class 0 does not take what class 1 is about to use";
}

TEST(ClassTurns, AnIdleClassSavesNothingUp) {
  const ClassTurns turns(weighted(2, "1,1"), 1000);
  ClassCredit credit;
  for (int i = 0; i < 1000; ++i) turns.charge(credit, turns.pick(credit, 0b01, 0b01), 1000);
  std::array<int, 2> turns_of{};
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t c = turns.pick(credit, 0b11, 0b11);
    ++turns_of[c];
    turns.charge(credit, c, 1000);
  }
  EXPECT_NEAR(turns_of[1], 50, 2);
}

TEST(TenantLimits, BytesOverTimeAreTheRate) {
  Tenants tenants;
  tenants.rate_limits_gbps = "0,100";
  TenantLimits limits(tenants);
  EXPECT_EQ(limits.free_at(0), 0U) << "no limit";
  TimePs now = 0;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    now = std::max(now, limits.free_at(1));
    limits.charge(now, 1, 16384);
    limits.give_back(1, 4096);
    bytes += 12288;
  }
  EXPECT_NEAR(static_cast<double>(bytes) * 8e3 / static_cast<double>(limits.free_at(1)), 100, 1e-3);
}

TEST(ContextCache, ATenantAtItsLimitGivesUpItsOwn) {
  ContextCache cache(6, 4);
  cache.limit({0, 2}, {0, 0, 1, 1, 1, 1});
  for (const std::uint32_t qp : {0U, 1U, 2U, 3U, 4U, 5U}) cache.insert(qp);
  for (const std::uint32_t qp : {0U, 1U, 4U, 5U}) EXPECT_TRUE(cache.touch(qp)) << qp;
  for (const std::uint32_t qp : {2U, 3U}) {
    cache.used(qp);
    EXPECT_FALSE(cache.touch(qp)) << qp;
  }
  EXPECT_EQ(cache.resident(), 4U);
}

}  // namespace
}  // namespace mrc
