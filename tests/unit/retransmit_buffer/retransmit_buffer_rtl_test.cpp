// retransmit_buffer against ring 1's records at random load on every port, with resets, at both sizes.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

CosimReport run(const char* size, std::uint64_t count) {
  CosimOptions options;
  options.count = count;
  return make_bench("retransmit_buffer", size)->run(options);
}

TEST(RetransmitBufferRtl, RandomCommandsSmall) {
  const CosimReport report = run("small", 60'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  EXPECT_GE(report.transactions, 60'000U);
}

TEST(RetransmitBufferRtl, RandomCommandsAtTheDefaultSizes) {
  const CosimReport report = run("default", 20'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
}

}  // namespace
}  // namespace mrc::cosim
