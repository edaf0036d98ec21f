// Slots of a switch that adds: each child counts once, whatever is lost or comes twice, and the last result is kept.
#include "mrc/reduction/reduction_slots.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "mrc/random.h"

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
  EXPECT_EQ(slots.add(2, part(0, 100)), Added::repeated) << "counted before";
  EXPECT_EQ(slots.adding(), 1U);
  EXPECT_EQ(slots.add(1, part(0, 1)), Added::complete);
  EXPECT_EQ(slots.value(0).sum, 111U);
  EXPECT_EQ(slots.value(0).ranks, 3U);
}

TEST(ReductionSlots, OneChildAsksForAllOnceTheSumHasLeft) {
  ReductionSlots slots(1, 2);
  slots.add(0, part(0, 1));
  slots.add(1, part(0, 2));
  EXPECT_EQ(slots.add(0, part(0, 1)), Added::repeated) << "the sum is still being made";
  slots.set_sent(0);
  EXPECT_EQ(slots.add(1, part(0, 2)), Added::repeated);
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
  EXPECT_EQ(slots.add(1, part(1, 6)), Added::answer);
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
  EXPECT_EQ(slots.add(70, part(0, 1)), Added::repeated);
  EXPECT_EQ(slots.add(children - 1, part(0, 1)), Added::complete);
  EXPECT_EQ(slots.value(0).sum, children);
}

/// One switch and its children: each keeps `slots` packets without a result, and sends at random what it still waits
/// for; packets are lost in both directions, come twice, and in any order.
TEST(ReductionSlots, AddExactlyOnceUnderLossAndRepetition) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    const auto children = static_cast<std::uint32_t>(1 + random() % 5);
    const auto window = static_cast<std::uint32_t>(1 + random() % 4);
    const std::uint64_t last = 40;
    ReductionSlots slots(window, children);
    std::vector<std::uint64_t> first(window);
    std::iota(first.begin(), first.end(), 0);
    std::vector<std::vector<std::uint64_t>> next_of_child(children, first);  // by child and slot
    const auto value = [](std::uint32_t child, std::uint64_t sequence) { return mix64(child << 20 | sequence); };
    std::uint64_t results = 0;
    const auto deliver = [&](std::uint32_t child, const ReductionFields& result) {
      if (random() % 4 == 0) return;  // lost
      std::uint64_t& next = next_of_child[child][result.sequence % window];
      if (next != result.sequence) return;
      std::uint64_t sum = 0;
      for (std::uint32_t c = 0; c < children; ++c) sum += value(c, result.sequence);
      ASSERT_EQ(result.sum, sum) << "packet " << result.sequence;
      ASSERT_EQ(result.ranks, children);
      next += window;
      ++results;
    };
    for (int step = 0; step < 200'000 && results < last * children; ++step) {
      const auto child = static_cast<std::uint32_t>(random() % children);
      const std::uint64_t sequence = next_of_child[child][random() % window];
      if (sequence >= last || random() % 4 == 0) continue;
      const ReductionFields sent = part(sequence, value(child, sequence));
      const Added added = slots.add(child, sent);
      if (added == Added::answer) deliver(child, slots.value(sequence));
      if (added != Added::complete) continue;
      slots.set_result(slots.value(sequence));
      for (std::uint32_t c = 0; c < children; ++c) deliver(c, slots.value(sequence));
    }
    EXPECT_EQ(results, last * children);
    EXPECT_LE(slots.most_adding(), window);
  }
}

}  // namespace
}  // namespace mrc
