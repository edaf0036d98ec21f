// ack_coalescer against ring 1 at random load on every port, with resets, at both sizes.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

CosimReport run(const char* size, std::uint64_t count) {
  CosimOptions options;
  options.count = count;
  return make_bench("ack_coalescer", size)->run(options);
}

TEST(AckCoalescerRtl, RandomEventsSmall) {
  const CosimReport report = run("small", 60'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  EXPECT_GE(report.transactions, 60'000U);
}

TEST(AckCoalescerRtl, RandomEventsAtTheDefaultSizes) {
  const CosimReport report = run("default", 20'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
}

}  // namespace
}  // namespace mrc::cosim
