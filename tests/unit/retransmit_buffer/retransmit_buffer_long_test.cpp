// A million commands at each size, and every bin of the functional coverage at the small one.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

TEST(RetransmitBufferLong, AMillionSmall) {
  CosimOptions options;
  options.seed = 2;
  const CosimReport report = make_bench("retransmit_buffer", "small")->run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  for (const FunctionalCoverage::Point& point : report.coverage.points()) {
    for (const FunctionalCoverage::Bin& bin : point.bins) {
      EXPECT_TRUE(bin.hits > 0 || !bin.waiver.empty()) << point.name << ": " << bin.name;
    }
  }
}

TEST(RetransmitBufferLong, AMillionAtTheDefaultSizes) {
  CosimOptions options;
  options.seed = 3;
  const CosimReport report = make_bench("retransmit_buffer", "default")->run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
}

}  // namespace
}  // namespace mrc::cosim
