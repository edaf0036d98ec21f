// Whose turn it is to send, and which contexts a NIC holds.
#include <gtest/gtest.h>

#include "mrc/tx/context_slots.h"
#include "mrc/tx/ready_list.h"

namespace mrc {
namespace {

TEST(ReadyList, FirstComeFirstServedAndOnceEach) {
  ReadyList list(4);
  EXPECT_TRUE(list.activate(2, 10));
  EXPECT_TRUE(list.activate(0, 11));
  EXPECT_FALSE(list.activate(2, 12)) << "it is listed";
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.front().from, 10U);
  EXPECT_EQ(list.pick().qp, 2U);
  EXPECT_EQ(list.pick().qp, 0U);
  EXPECT_TRUE(list.empty());
}

TEST(ReadyList, AnActivationDuringATurnIsKept) {
  ReadyList list(2);
  list.activate(1, 0);
  list.pick();
  EXPECT_FALSE(list.activate(1, 5));
  EXPECT_TRUE(list.empty()) << "its turn is not over";
  EXPECT_TRUE(list.end_turn(1, false, 7));
  EXPECT_EQ(list.pick().from, 7U);
  EXPECT_FALSE(list.end_turn(1, false, 9));
  EXPECT_TRUE(list.empty());
}

struct ContextSlotsTest : testing::Test {
  void bring(std::uint32_t qp, bool used) {
    ASSERT_EQ(slots.look(qp, false, true), ContextLookup::fetched);
    slots.begin_fetch(qp);
    slots.fill(qp, used);
  }
  ContextSlots slots{8, 2};
};

TEST_F(ContextSlotsTest, AContextIsKeptUntilItIsUsed) {
  bring(0, false);
  bring(1, false);
  EXPECT_EQ(slots.look(2, true, true), ContextLookup::no_room) << "both slots are in use";
  EXPECT_EQ(slots.look(0, false, true), ContextLookup::here);
  EXPECT_EQ(slots.look(2, true, true), ContextLookup::fetched);
  const ContextSlots::Fetch fetch = slots.begin_fetch(2);
  EXPECT_EQ(fetch.slot, 0U);
  EXPECT_EQ(fetch.evicted, 0U);
  EXPECT_FALSE(slots.here(0));
  EXPECT_EQ(slots.look(2, true, true), ContextLookup::loading);
}

TEST_F(ContextSlotsTest, AGrantHoldsItsSlot) {
  bring(0, true);
  bring(1, true);
  ASSERT_EQ(slots.look(0, true, true), ContextLookup::here);
  EXPECT_EQ(slots.held(), 1U);
  ASSERT_EQ(slots.look(2, false, true), ContextLookup::fetched);
  EXPECT_EQ(slots.begin_fetch(2).evicted, 1U);
  slots.fill(2, true);
  slots.give_back(slots.slot_of(0));
  EXPECT_EQ(slots.held(), 0U);
}

TEST_F(ContextSlotsTest, WhatIsUsedHasASecondChance) {
  bring(0, true);
  bring(1, true);
  ASSERT_EQ(slots.look(2, false, true), ContextLookup::fetched);
  EXPECT_EQ(slots.begin_fetch(2).evicted, 0U) << "all were recent: the hand has gone round";
  slots.fill(2, true);
  ASSERT_EQ(slots.look(1, false, true), ContextLookup::here);
  ASSERT_EQ(slots.look(3, false, true), ContextLookup::fetched);
  const ContextSlots::Fetch fetch = slots.begin_fetch(3);
  EXPECT_EQ(fetch.evicted, 1U) << "the hand took its second chance when it passed";
  EXPECT_EQ(fetch.passed, 2U);
}

// What has been used once, and whose packets are on their way, is not older than what was used again.
TEST(ContextSlots, AContextThatHasJustComeOutlivesOldOnesThatWereUsedAgain) {
  ContextSlots slots{8, 4};
  const auto bring = [&](std::uint32_t qp) {
    ASSERT_EQ(slots.look(qp, true, true), ContextLookup::fetched);
    slots.begin_fetch(qp);
    slots.fill(qp, false);
    ASSERT_EQ(slots.look(qp, true, true), ContextLookup::here);
    slots.give_back(slots.slot_of(qp));
  };
  for (std::uint32_t qp = 0; qp < 4; ++qp) bring(qp);
  for (std::uint32_t qp = 0; qp < 3; ++qp) ASSERT_EQ(slots.look(qp, false, true), ContextLookup::here);
  bring(4);
  EXPECT_TRUE(slots.here(3));
  EXPECT_FALSE(slots.here(0));
}

TEST_F(ContextSlotsTest, WhatCannotBeReadIsFetchedAgain) {
  bring(0, false);
  slots.drop(0);
  EXPECT_EQ(slots.held(), 0U);
  EXPECT_EQ(slots.resident(), 0U);
  EXPECT_EQ(slots.look(0, true, false), ContextLookup::no_room);
  EXPECT_EQ(slots.look(0, true, true), ContextLookup::fetched);
  EXPECT_FALSE(slots.begin_fetch(0).evicted.has_value());
}

}  // namespace
}  // namespace mrc
