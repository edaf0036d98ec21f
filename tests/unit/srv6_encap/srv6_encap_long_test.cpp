// More than a million packets in all modes at each of two widths; every bin of the functional coverage.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

void expect_no_mismatch(const char* size, std::uint64_t count) {
  CosimOptions options;
  options.count = count;
  options.seed = 2;
  const CosimReport report = make_bench("srv6_encap", size)->run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  std::uint64_t packets = 0;
  for (const FunctionalCoverage::Point& point : report.coverage.points()) {
    for (const FunctionalCoverage::Bin& bin : point.bins) {
      EXPECT_TRUE(bin.hits > 0 || !bin.waiver.empty()) << point.name << ": " << bin.name;
      if (point.name == "uSIDs") packets += bin.hits;
    }
  }
  EXPECT_GT(packets, 1'000'000U);
}

TEST(Srv6EncapLong, AMillionPacketsInBeatsOf64Bytes) {
  expect_no_mismatch("small", 4'500'000);
}
TEST(Srv6EncapLong, AMillionPacketsInBeatsOf128Bytes) {
  expect_no_mismatch("default", 4'500'000);
}

}  // namespace
}  // namespace mrc::cosim
