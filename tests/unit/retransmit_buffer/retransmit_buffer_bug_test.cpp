// Negative controls: the scoreboard finds each kept bug, names the field, and leaves a short replay that shows it
// again.
#include <gtest/gtest.h>

#include <filesystem>

#include "Vretransmit_buffer_append_not_forwarded.h"
#include "Vretransmit_buffer_bitmap_one_off.h"
#include "Vretransmit_buffer_gap_too_patient.h"
#include "Vretransmit_buffer_older_loss_forgotten.h"
#include "cosim/bench/stream_bench.h"
#include "cosim/retransmit_buffer_model.h"

namespace mrc::cosim {
namespace {

template <typename Model>
CosimReport run(const CosimOptions& options) {
  StreamBench bench("retransmit_buffer", std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64},
                                                                                 make_retransmit_buffer_dut<Model>));
  return bench.run(options);
}

template <typename Model>
void expect_found(const std::string& port, const std::string& field, RetransmitOp op) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("retransmit_buffer_bug_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  CosimOptions options;
  options.count = 200'000;
  options.seed = 3;
  options.out = folder.string();
  const CosimReport found = run<Model>(options);
  ASSERT_EQ(found.mismatches, 1U);
  EXPECT_EQ(found.first_mismatch->port, port) << found.first_mismatch->line();
  EXPECT_EQ(found.first_mismatch->field, field) << found.first_mismatch->line();
  EXPECT_EQ(found.first_mismatch->input.at(0).second, static_cast<std::uint64_t>(op));
  EXPECT_LE(found.replay_transfers, 200U);
  EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);

  options.replay = (folder / "mismatch.replay").string();
  const CosimReport again = run<Model>(options);
  ASSERT_EQ(again.mismatches, 1U);
  EXPECT_EQ(again.first_mismatch->field, field) << again.first_mismatch->line();
  std::filesystem::remove_all(folder);
}

TEST(RetransmitBufferBug, BitmapAppliedOnePsnOff) {
  expect_found<Vretransmit_buffer_bitmap_one_off>("evt", "psn", RetransmitOp::ack);
}
TEST(RetransmitBufferBug, GapInferredOnePacketLate) {
  expect_found<Vretransmit_buffer_gap_too_patient>("rsp", "count", RetransmitOp::gap);
}
TEST(RetransmitBufferBug, AnOlderLossDoesNotBecomeTheOldest) {
  expect_found<Vretransmit_buffer_older_loss_forgotten>("rsp", "oldest_lost", RetransmitOp::nack);
}
TEST(RetransmitBufferBug, ARecordThatWasJustMadeIsNotSeen) {
  expect_found<Vretransmit_buffer_append_not_forwarded>("rsp", "hit", RetransmitOp::sent);
}

}  // namespace
}  // namespace mrc::cosim
