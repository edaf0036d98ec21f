// The RTL against the reference: every output of every cycle, at random load on every port.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vpcie_dma_512.h"
#include "Vpcie_dma_small.h"
#include "cosim/pcie_dma_bench.h"

namespace mrc {
namespace {

constexpr PcieDmaSizes kSmall{8, 32, 8192};
constexpr PcieDmaSizes kDefault{512, 1024, 262'144};

TEST(PcieDmaRtl, RandomTransactionsSmall) {
  PcieDmaBench<Vpcie_dma_small> bench(kSmall, 1);
  const PcieDmaBenchResult result = bench.run(1'000'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
  RecordProperty("cycles", static_cast<int>(result.cycles));
}

TEST(PcieDmaRtl, RandomTransactionsAtTheDefaultSizes) {
  PcieDmaBench<Vpcie_dma_512> bench(kDefault, 2);
  const PcieDmaBenchResult result = bench.run(300'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
}

}  // namespace
}  // namespace mrc
