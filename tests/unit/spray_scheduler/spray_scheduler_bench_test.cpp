// The RTL pin by pin: back-pressure on every port, resets in the middle of traffic, random initial state.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vspray_scheduler_full.h"
#include "Vspray_scheduler_small.h"
#include "cosim/spray_scheduler_bench.h"

namespace mrc {
namespace {

constexpr SpraySizes kSmall{4, 16, 4};
constexpr SpraySizes kFull{1024, 256, 8};

TEST(SpraySchedulerBench, SmallBlockMeetsEveryCase) {
  const SpraySchedulerBenchResult result = SpraySchedulerBench<Vspray_scheduler_small>(kSmall, 1).run(150'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
}
TEST(SpraySchedulerBench, BlockOfTheDefaultSize) {
  const SpraySchedulerBenchResult result = SpraySchedulerBench<Vspray_scheduler_full>(kFull, 2).run(40'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
}
TEST(SpraySchedulerBench, DISABLED_Million) {
  const SpraySchedulerBenchResult small = SpraySchedulerBench<Vspray_scheduler_small>(kSmall, 3).run(1'000'000);
  EXPECT_EQ(small.mismatches, 0U) << small.first_mismatch;
  const SpraySchedulerBenchResult full = SpraySchedulerBench<Vspray_scheduler_full>(kFull, 4).run(1'000'000);
  EXPECT_EQ(full.mismatches, 0U) << full.first_mismatch;
}

}  // namespace
}  // namespace mrc
