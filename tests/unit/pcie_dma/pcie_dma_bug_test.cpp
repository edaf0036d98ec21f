// Negative controls: the scoreboard finds each kept bug, names the field, and leaves a replay that shows it again.
#include <gtest/gtest.h>

#include <filesystem>

#include "Vpcie_dma_block_of_2k.h"
#include "Vpcie_dma_poison_forgotten.h"
#include "Vpcie_dma_second_copy_taken.h"
#include "cosim/bench/stream_bench.h"
#include "cosim/pcie_dma_model.h"
#include "cosim/pcie_dma_rtl.h"

namespace mrc::cosim {
namespace {

template <typename Model>
CosimReport run(const CosimOptions& options) {
  StreamBench bench("pcie_dma", std::make_unique<PcieDmaModel>(kSmallPcieDmaSizes, make_pcie_dma_dut<Model>));
  return bench.run(options);
}

template <typename Model>
void expect_found(const std::string& port, const std::string& field) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("pcie_dma_bug_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  CosimOptions options;
  options.count = 200'000;
  options.seed = 8;
  options.out = folder.string();
  const CosimReport found = run<Model>(options);
  ASSERT_EQ(found.mismatches, 1U);
  EXPECT_EQ(found.first_mismatch->port, port) << found.first_mismatch->line();
  EXPECT_EQ(found.first_mismatch->field, field) << found.first_mismatch->line();
  EXPECT_LE(found.replay_transfers, 200U);
  EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);

  options.replay = (folder / "mismatch.replay").string();
  const CosimReport again = run<Model>(options);
  ASSERT_EQ(again.mismatches, 1U);
  EXPECT_EQ(again.first_mismatch->field, field) << again.first_mismatch->line();
  std::filesystem::remove_all(folder);
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
