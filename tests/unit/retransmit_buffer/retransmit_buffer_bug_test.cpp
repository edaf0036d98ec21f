// Negative controls: the comparison finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vretransmit_buffer_bitmap_one_off.h"
#include "Vretransmit_buffer_gap_too_patient.h"
#include "Vretransmit_buffer_older_loss_forgotten.h"
#include "cosim/retransmit_buffer_bench.h"

namespace mrc {
namespace {

template <typename Model>
std::string first_mismatch() {
  return RetransmitBufferBench<Model>({16, 64}, 3).run(200'000).first_mismatch;
}
void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(RetransmitBufferBug, BitmapAppliedOnePsnOff) {
  const std::string text = first_mismatch<Vretransmit_buffer_bitmap_one_off>();
  expect_in("(ack of QP ", text);
  expect_in(": event", text);
}
TEST(RetransmitBufferBug, GapInferredOnePacketLate) {
  const std::string text = first_mismatch<Vretransmit_buffer_gap_too_patient>();
  expect_in("(gap of QP ", text);
  expect_in(": events: expected", text);
}
TEST(RetransmitBufferBug, AnOlderLossDoesNotBecomeTheOldest) {
  const std::string text = first_mismatch<Vretransmit_buffer_older_loss_forgotten>();
  expect_in(": oldest_lost: expected", text);
}

}  // namespace
}  // namespace mrc
