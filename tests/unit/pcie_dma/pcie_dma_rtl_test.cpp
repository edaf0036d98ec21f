// pcie_dma against its reference at random load on every port, with faults and resets, at both sizes.
#include <gtest/gtest.h>

#include "cosim/cosim_benches.h"

namespace mrc::cosim {
namespace {

CosimReport run(const char* size, std::uint64_t count) {
  CosimOptions options;
  options.count = count;
  return make_bench("pcie_dma", size)->run(options);
}

TEST(PcieDmaRtl, RandomTransfersSmall) {
  const CosimReport report = run("small", 100'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  EXPECT_GE(report.transactions, 100'000U);
}

TEST(PcieDmaRtl, RandomTransfersAtTheDefaultSizes) {
  const CosimReport report = run("default", 30'000);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
}

}  // namespace
}  // namespace mrc::cosim
