// Negative controls: the scoreboard finds each kept bug and names the field.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "Vretransmit_buffer_append_not_forwarded.h"
#include "Vretransmit_buffer_bitmap_one_off.h"
#include "Vretransmit_buffer_bucket_read_too_early.h"
#include "Vretransmit_buffer_gap_too_patient.h"
#include "Vretransmit_buffer_older_loss_forgotten.h"
#include "cosim/retransmit_buffer/model.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

/// `ops`: the commands that the bug shows in.
template <typename Model>
void expect_found(const std::string& port, const std::string& field, const std::vector<RetransmitOp>& ops) {
  const Mismatch found = find_kept_bug(
      [] {
        return StreamBench("retransmit_buffer",
                           std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64, 8}, 32,
                                                                   make_retransmit_buffer_dut<Model>));
      },
      {.count = 200'000, .seed = 4}, 400);
  EXPECT_EQ(found.port, port) << found.line();
  EXPECT_EQ(found.field, field) << found.line();
  ASSERT_FALSE(found.input.empty());
  EXPECT_TRUE(std::ranges::count(ops, static_cast<RetransmitOp>(found.input[0].second)) == 1) << found.line();
}

TEST(RetransmitBufferBug, BitmapAppliedOnePsnOff) {
  expect_found<Vretransmit_buffer_bitmap_one_off>("evt", "psn", {RetransmitOp::ack});
}
TEST(RetransmitBufferBug, GapInferredOnePacketLate) {
  expect_found<Vretransmit_buffer_gap_too_patient>("rsp", "count", {RetransmitOp::gap});
}
TEST(RetransmitBufferBug, AnOlderLossDoesNotBecomeTheOldest) {
  expect_found<Vretransmit_buffer_older_loss_forgotten>("rsp", "oldest_lost",
                                                        {RetransmitOp::nack, RetransmitOp::gap, RetransmitOp::timeout});
}
TEST(RetransmitBufferBug, ARecordThatWasJustMadeIsNotSeen) {
  expect_found<Vretransmit_buffer_append_not_forwarded>("rsp", "hit", {RetransmitOp::sent});
}
TEST(RetransmitBufferBug, ABucketReadInTheCycleInWhichItsHeadChanges) {
  expect_found<Vretransmit_buffer_bucket_read_too_early>("rsp", "hit", {RetransmitOp::sent});
}

}  // namespace
}  // namespace mrc::cosim
