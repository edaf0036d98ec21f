// Negative controls: the comparison finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vpcie_dma_block_of_2k.h"
#include "Vpcie_dma_poison_forgotten.h"
#include "Vpcie_dma_second_copy_taken.h"
#include "cosim/pcie_dma_bench.h"

namespace mrc {
namespace {

constexpr PcieDmaSizes kSmall{8, 32, 8192};

template <typename Model>
std::string first_mismatch() {
  return PcieDmaBench<Model>(kSmall, 8).run(200'000).first_mismatch;
}

TEST(PcieDmaBug, ReadsThatKeepTo2KiBOnly) {
  EXPECT_NE(first_mismatch<Vpcie_dma_block_of_2k>().find(".bytes: expected "), std::string::npos)
      << first_mismatch<Vpcie_dma_block_of_2k>();
}
TEST(PcieDmaBug, SecondCopyOfACompletionTaken) {
  EXPECT_NE(first_mismatch<Vpcie_dma_second_copy_taken>().find(": verdict: expected 0"), std::string::npos)
      << first_mismatch<Vpcie_dma_second_copy_taken>();
}
TEST(PcieDmaBug, PoisonOfAnEarlierCompletionForgotten) {
  const std::string found = first_mismatch<Vpcie_dma_poison_forgotten>();
  EXPECT_NE(found.find(": request.again: expected 1, RTL gave 0"), std::string::npos) << found;
}

}  // namespace
}  // namespace mrc
