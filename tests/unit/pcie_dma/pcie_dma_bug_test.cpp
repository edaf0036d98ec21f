// Negative controls: the scoreboard finds each kept bug and names the field.
#include <gtest/gtest.h>

#include "Vpcie_dma_block_of_2k.h"
#include "Vpcie_dma_poison_forgotten.h"
#include "Vpcie_dma_second_copy_taken.h"
#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

template <typename Model>
void expect_found(const std::string& port, const std::string& field) {
  const Mismatch found = find_kept_bug(
      [] {
        return StreamBench("pcie_dma", std::make_unique<PcieDmaModel>(kSmallPcieDmaSizes, make_pcie_dma_dut<Model>));
      },
      {.count = 200'000, .seed = 8});
  EXPECT_EQ(found.port, port) << found.line();
  EXPECT_EQ(found.field, field) << found.line();
}

TEST(PcieDmaBug, BlocksOf2KiBOnly) {
  expect_found<Vpcie_dma_block_of_2k>("tlp", "bytes");
}
TEST(PcieDmaBug, SecondCopyOfACompletionTaken) {
  expect_found<Vpcie_dma_second_copy_taken>("verdict", "verdict");
}
TEST(PcieDmaBug, PoisonOfAnEarlierCompletionForgotten) {
  expect_found<Vpcie_dma_poison_forgotten>("req", "again");
}

}  // namespace
}  // namespace mrc::cosim
