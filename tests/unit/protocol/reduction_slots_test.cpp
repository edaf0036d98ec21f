// Slots of a switch that adds: a packet of each child is added once, and the last result is kept.
// reduction_window_test.cpp has both halves under loss.
#include "mrc/reduction/reduction_slots.h"

#include <gtest/gtest.h>

namespace mrc {
namespace {

using Added = ReductionSlots::Added;

ReductionFields part(std::uint64_t sequence, std::uint64_t sum) {
  return {.sequence = sequence, .sum = sum, .tree = 0, .ranks = 1};
}

TEST(ReductionSlots, AddEachChildOnceAndTellTheLast) {
  ReductionSlots slots(4, 3);
  EXPECT_EQ(slots.add(2, part(0, 100)), Added::counted);
  EXPECT_EQ(slots.add(0, part(0, 10)), Added::counted);
  EXPECT_EQ(slots.add(2, part(0, 100)), Added::duplicate) << "counted before";
  EXPECT_EQ(slots.adding(), 1U);
  EXPECT_EQ(slots.add(1, part(0, 1)), Added::complete);
  EXPECT_EQ(slots.value(0).sum, 111U);
  EXPECT_EQ(slots.value(0).ranks, 3U);
}

TEST(ReductionSlots, OneChildAsksForAllOnceTheSumHasLeft) {
  ReductionSlots slots(1, 2);
  slots.add(0, part(0, 1));
  slots.add(1, part(0, 2));
  EXPECT_EQ(slots.add(0, part(0, 1)), Added::duplicate) << "the sum is still being made";
  slots.set_sent(0);
  EXPECT_EQ(slots.add(1, part(0, 2)), Added::duplicate);
  EXPECT_EQ(slots.add(0, part(0, 1)), Added::resend_sum);
  EXPECT_EQ(slots.value(0).sum, 3U);
}

TEST(ReductionSlots, KeepTheResultUntilTheSlotsNextIsComplete) {
  ReductionSlots slots(2, 2);
  slots.add(0, part(1, 5));
  slots.add(1, part(1, 6));
  EXPECT_TRUE(slots.set_result({.sequence = 1, .sum = 70, .tree = 0, .ranks = 12}));
  EXPECT_FALSE(slots.set_result({.sequence = 1, .sum = 70, .tree = 0, .ranks = 12})) << "known";
  EXPECT_EQ(slots.adding(), 0U);
  // Child 0 has the result and goes on to the slot's next; child 1 has lost it and asks.
  EXPECT_EQ(slots.add(0, part(3, 8)), Added::counted);
  EXPECT_EQ(slots.add(1, part(1, 6)), Added::resend_result);
  EXPECT_EQ(slots.value(1).sum, 70U);
  EXPECT_EQ(slots.add(1, part(3, 9)), Added::complete);
  EXPECT_EQ(slots.value(3).sum, 17U);
  slots.set_result({.sequence = 3, .sum = 17, .tree = 0, .ranks = 2});
  EXPECT_EQ(slots.add(0, part(5, 1)), Added::counted);
  EXPECT_EQ(slots.add(1, part(1, 6)), Added::late) << "a packet that was on its way for very long";
  EXPECT_FALSE(slots.set_result({.sequence = 1, .sum = 70, .tree = 0, .ranks = 12}));
}

TEST(ReductionSlots, HaveRoomForMoreChildrenThanAWordHasBits) {
  constexpr std::uint32_t children = 200;
  ReductionSlots slots(1, children);
  for (std::uint32_t child = 0; child + 1 < children; ++child) EXPECT_EQ(slots.add(child, part(0, 1)), Added::counted);
  EXPECT_EQ(slots.add(70, part(0, 1)), Added::duplicate);
  EXPECT_EQ(slots.add(children - 1, part(0, 1)), Added::complete);
  EXPECT_EQ(slots.value(0).sum, children);
}

}  // namespace
}  // namespace mrc
