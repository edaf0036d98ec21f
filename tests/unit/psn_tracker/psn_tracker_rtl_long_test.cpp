// 10^6 random requests at the scenario's sizes, and several seeds at the small ones.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vpsn_tracker_16384.h"
#include "Vpsn_tracker_small.h"
#include "cosim/psn_tracker_bench.h"

namespace mrc {
namespace {

TEST(PsnTrackerRtlLong, AMillionRequestsAtTheDefaultSizes) {
  const PsnTrackerBenchResult result = PsnTrackerBench<Vpsn_tracker_16384>({16'384, 4'096, 8}, 3).run(1'000'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
}
TEST(PsnTrackerRtlLong, TenSeedsSmall) {
  for (std::uint64_t seed = 10; seed < 20; ++seed) {
    const PsnTrackerBenchResult result = PsnTrackerBench<Vpsn_tracker_small>({8, 8, 2}, seed).run(1'000'000);
    EXPECT_EQ(result.mismatches, 0U) << "seed " << seed << ": " << result.first_mismatch;
  }
}

}  // namespace
}  // namespace mrc
