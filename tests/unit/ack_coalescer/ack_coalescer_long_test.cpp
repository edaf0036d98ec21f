// A million events, every bin of the functional coverage.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

TEST(AckCoalescerLong, AMillionEvents) {
  CosimOptions options;
  options.count = 1'000'000;
  options.seed = 2;
  const CosimReport report = make_bench("ack_coalescer", "small")->run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  for (const FunctionalCoverage::Point& point : report.coverage.points()) {
    for (const FunctionalCoverage::Bin& bin : point.bins) {
      EXPECT_TRUE(bin.hits > 0 || !bin.waiver.empty()) << point.name << ": " << bin.name;
    }
  }
}

}  // namespace
}  // namespace mrc::cosim
