// The RTL against the reference: every output of every cycle, at random load on every port.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vpsn_tracker_16384.h"
#include "Vpsn_tracker_small.h"
#include "cosim/psn_tracker_adapter.h"
#include "cosim/psn_tracker_bench.h"

namespace mrc {
namespace {

constexpr PsnTrackerSizes kSmall{8, 8, 2};
constexpr PsnTrackerSizes kDefault{16'384, 4'096, 8};

TEST(PsnTrackerRtl, RandomTransactionsSmall) {
  PsnTrackerBench<Vpsn_tracker_small> bench(kSmall, 1);
  const PsnTrackerBenchResult result = bench.run(1'000'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
  RecordProperty("cycles", static_cast<int>(result.cycles));
}

TEST(PsnTrackerRtl, RandomTransactionsAtTheDefaultSizes) {
  PsnTrackerBench<Vpsn_tracker_16384> bench(kDefault, 2);
  const PsnTrackerBenchResult result = bench.run(400'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
}

TEST(PsnTrackerRtl, AdapterAnswersAsTheReference) {
  const PsnTrackerSettings settings;
  PsnTrackerAdapter<Vpsn_tracker_16384> rtl(settings);
  PsnTrackerReference reference(kDefault, settings);
  const auto same = [&](const PsnRequest& request) {
    return rtl.run(request) == reference.run(request) && rtl.banks_in_use() == reference.pool().in_use() &&
           rtl.latency_cycles() == 2 + reference.banks_visited();
  };
  ASSERT_TRUE(same({.op = PsnOp::setup, .qp = 16'383, .psn = 0xFF'FF00}));
  for (Psn ahead = 1; ahead < 1'024; ++ahead) {
    ASSERT_TRUE(same({.qp = 16'383, .psn = psn_add(0xFF'FF00, ahead), .ends_message = ahead % 3 == 0})) << ahead;
  }
  ASSERT_TRUE(same({.op = PsnOp::sack, .qp = 16'383, .psn = 0xFF'FF20, .ce = true}));
  ASSERT_TRUE(same({.qp = 16'383, .psn = 0xFF'FF00}));
  EXPECT_EQ(rtl.latency_cycles(), 10U) << "eight banks, one cycle for the context, one for the reply";
  EXPECT_EQ(rtl.banks_in_use(), 0U);
}

}  // namespace
}  // namespace mrc
