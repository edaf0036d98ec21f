// Negative controls: the scoreboard finds each kept bug, names the field, and leaves a short replay that shows it
// again.
#include <gtest/gtest.h>

#include <filesystem>

#include "Vack_coalescer_least_counted_as_it_is.h"
#include "Vack_coalescer_retransmission_no_trigger.h"
#include "Vack_coalescer_timestamp_of_the_event_before.h"
#include "cosim/ack_coalescer_model.h"
#include "cosim/bench/stream_bench.h"

namespace mrc::cosim {
namespace {

template <typename Model>
CosimReport run(const CosimOptions& options) {
  StreamBench bench("ack_coalescer", std::make_unique<AckCoalescerModel>(64U, make_ack_coalescer_dut<Model>));
  return bench.run(options);
}

template <typename Model>
void expect_found(const std::string& field) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("ack_coalescer_bug_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  CosimOptions options;
  options.count = 200'000;
  options.out = folder.string();
  const CosimReport found = run<Model>(options);
  ASSERT_EQ(found.mismatches, 1U);
  EXPECT_EQ(found.first_mismatch->field, field) << found.first_mismatch->line();
  EXPECT_LE(found.replay_transfers, 200U);
  EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);

  options.replay = (folder / "mismatch.replay").string();
  const CosimReport again = run<Model>(options);
  ASSERT_EQ(again.mismatches, 1U);
  EXPECT_EQ(again.first_mismatch->field, field) << again.first_mismatch->line();
  std::filesystem::remove_all(folder);
}

TEST(AckCoalescerBug, SmallPacketsCountedAsTheyAre) {
  expect_found<Vack_coalescer_least_counted_as_it_is>("counter_bytes");
}
TEST(AckCoalescerBug, RetransmissionIsNoTrigger) {
  expect_found<Vack_coalescer_retransmission_no_trigger>("causes");
}
TEST(AckCoalescerBug, TimestampOfTheEventBefore) {
  expect_found<Vack_coalescer_timestamp_of_the_event_before>("tx_timestamp");
}

}  // namespace
}  // namespace mrc::cosim
