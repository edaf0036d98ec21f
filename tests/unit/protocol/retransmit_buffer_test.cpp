// The plain store of a requestor: what each operation does to the records, and that it is a SendStore.
#include <gtest/gtest.h>

#include <vector>

#include "mrc/tx/requestor.h"
#include "mrc/tx/retransmit_buffer.h"

namespace mrc {
namespace {

static_assert(SendStore<RetransmitBuffer>);

constexpr Psn kFirst = 0xFF'FFF0;
constexpr auto kIgnored = [](const SendRecord&, bool) {};

class RetransmitBufferTest : public testing::Test {
 protected:
  static Psn psn(Psn index) { return psn_add(kFirst, static_cast<std::int32_t>(index)); }
  void send(Psn count) {
    for (Psn i = 0; i < count; ++i) {
      const Psn sent = buffer.append(0, 0, buffer.next_psn(), now);
      buffer.transmitted(sent, static_cast<EvIndex>(i % 100), ++now);
    }
  }
  void acknowledge(std::initializer_list<Psn> indices) {
    for (const Psn index : indices) buffer.acknowledge(psn(index), kIgnored);
  }
  /// What lose_overtaken() declares lost, by nominal_bytes, which send() sets to the PSN.
  std::vector<Psn> lose_overtaken(std::uint64_t threshold) {
    std::vector<Psn> lost;
    buffer.lose_overtaken(threshold, now, [&](const SendRecord& record) { lost.push_back(record.nominal_bytes); });
    return lost;
  }
  std::vector<Psn> lose_overdue(TimePs limit, std::uint32_t timer = 0) {
    std::vector<Psn> lost;
    buffer.lose_overdue(timer, limit, now, [&](const SendRecord& record) { lost.push_back(record.nominal_bytes); });
    return lost;
  }

  RetransmitBuffer buffer{kFirst};
  TimePs now = 0;
};

TEST_F(RetransmitBufferTest, AppendGivesOneRecordAfterTheOther) {
  EXPECT_EQ(buffer.append(7, 4096, 4222, now), kFirst);
  EXPECT_EQ(buffer.append(8, 0, 100, now), psn(1));
  EXPECT_EQ(buffer.span(), 2U);
  EXPECT_EQ(buffer.next_psn(), psn(2));
  const SendRecord& record = buffer.at(kFirst);
  EXPECT_EQ(record.message, 7U);
  EXPECT_EQ(record.message_offset, 4096U);
  EXPECT_EQ(record.nominal_bytes, 4222U);
  EXPECT_EQ(record.state, RecordState::in_pipeline);
  EXPECT_EQ(record.transmissions, 0U);
  EXPECT_EQ(buffer.oldest_sent(0), kNever) << "nothing has left";
}

TEST_F(RetransmitBufferTest, RecordsSurviveGrowthOverTheWrap) {
  send(200);
  EXPECT_EQ(buffer.span(), 200U);
  for (Psn i = 0; i < 200; ++i) {
    ASSERT_TRUE(buffer.contains(psn(i)));
    ASSERT_EQ(buffer.at(psn(i)).nominal_bytes, psn(i));
    ASSERT_EQ(buffer.at(psn(i)).state, RecordState::outstanding);
    ASSERT_EQ(buffer.at(psn(i)).sent_at, i + 1);
  }
  EXPECT_FALSE(buffer.contains(psn_add(kFirst, -1)));
  EXPECT_FALSE(buffer.contains(buffer.next_psn()));
}

TEST_F(RetransmitBufferTest, LostPacketsSurviveGrowthAndComeOldestFirst) {
  send(60);
  for (const Psn index : {59U, 3U, 20U}) EXPECT_TRUE(buffer.refuse(psn(index), CutCause::trim, now));
  send(200);
  EXPECT_TRUE(buffer.refuse(psn(250), CutCause::trim, now));
  for (const Psn index : {3U, 20U, 59U, 250U}) {
    ASSERT_TRUE(buffer.has_lost());
    EXPECT_EQ(buffer.oldest_lost(), psn(index));
    EXPECT_EQ(buffer.take_lost(now), psn(index));
    EXPECT_EQ(buffer.at(psn(index)).state, RecordState::in_pipeline);
  }
  EXPECT_FALSE(buffer.has_lost());
}

TEST_F(RetransmitBufferTest, OldestLostIsOldestWhereverItsSlot) {
  for (int round = 0; round < 300; ++round) {
    send(50);
    const Psn first = buffer.unacked_psn();
    buffer.declare_lost(psn_add(first, 45));
    buffer.declare_lost(psn_add(first, 2));
    ASSERT_EQ(buffer.oldest_lost(), psn_add(first, 2));
    buffer.acknowledge(psn_add(first, 2), kIgnored);
    ASSERT_EQ(buffer.oldest_lost(), psn_add(first, 45));
    ASSERT_TRUE(buffer.acknowledge(psn_add(first, 49), 0, 0, now, kIgnored));
    ASSERT_FALSE(buffer.has_lost());
    ASSERT_EQ(buffer.span(), 0U);
    // 37 more than a whole turn shifts the next round's slots.
    send(37);
    ASSERT_TRUE(buffer.acknowledge(psn_add(buffer.next_psn(), -1), 0, 0, now, kIgnored));
  }
}

TEST_F(RetransmitBufferTest, EachPacketIsAcknowledgedOnce) {
  send(3);
  std::vector<Psn> acked;
  const auto note = [&](const SendRecord& record, bool) { acked.push_back(record.nominal_bytes); };
  const Psn before_all = psn_add(kFirst, -1);
  EXPECT_FALSE(buffer.acknowledge(before_all, psn(1), 1, now, note)) << "the second only: the old end stays";
  EXPECT_FALSE(buffer.acknowledge(before_all, psn(1), 1, now, note));
  EXPECT_FALSE(buffer.acknowledge(before_all, before_all, 1, now, note)) << "not in the buffer";
  EXPECT_EQ(acked, (std::vector<Psn>{psn(1)}));
  EXPECT_TRUE(buffer.acknowledge(kFirst, kFirst, 0, now, note));
  EXPECT_EQ(acked, (std::vector<Psn>{psn(1), kFirst}));
  EXPECT_EQ(buffer.unacked_psn(), psn(2));
}

TEST_F(RetransmitBufferTest, CumulativeAndSelectivePartsAreOneAcknowledgement) {
  send(200);
  std::vector<Psn> acked;
  const auto note = [&](const SendRecord& record, bool) { acked.push_back(record.nominal_bytes); };
  std::vector<Psn> found;
  buffer.find_acknowledged(psn(99), psn(100), 0b1101, found);
  EXPECT_TRUE(buffer.acknowledge(psn(99), psn(100), 0b1101, now, note));
  ASSERT_EQ(acked.size(), 103U);
  EXPECT_EQ(found, acked) << "what it would do is what it does";
  EXPECT_EQ(acked.front(), kFirst);
  EXPECT_EQ(acked.back(), psn(103));
  EXPECT_EQ(buffer.unacked_psn(), psn(101)) << "100 closes up, 101 is missing";
  EXPECT_EQ(buffer.at(psn(101)).state, RecordState::outstanding);
}

TEST_F(RetransmitBufferTest, AnAcknowledgementSaysWhetherThePacketWasThoughtLost) {
  send(2);
  EXPECT_TRUE(buffer.refuse(psn(0), CutCause::no_bitmap, now));
  std::vector<bool> was_lost;
  buffer.acknowledge(psn(1), 0, 0, now, [&](const SendRecord&, bool lost) { was_lost.push_back(lost); });
  EXPECT_EQ(was_lost, (std::vector<bool>{true, false}));
  EXPECT_FALSE(buffer.has_lost()) << "it is not retransmitted any more";
}

TEST_F(RetransmitBufferTest, OnlyOutstandingPacketsCanBeRefused) {
  buffer.append(0, 0, 0, now);
  EXPECT_FALSE(buffer.refuse(kFirst, CutCause::trim, now)) << "in the pipeline";
  buffer.transmitted(kFirst, 1, 5);
  EXPECT_TRUE(buffer.refuse(kFirst, CutCause::no_pkt_buffer, now));
  EXPECT_EQ(buffer.at(kFirst).lost_by, CutCause::no_pkt_buffer);
  EXPECT_FALSE(buffer.refuse(kFirst, CutCause::trim, now)) << "lost already";
  EXPECT_EQ(buffer.at(kFirst).lost_by, CutCause::no_pkt_buffer);
  EXPECT_FALSE(buffer.refuse(psn(1), CutCause::trim, now)) << "never sent";
}

TEST_F(RetransmitBufferTest, WhatWasAcknowledgedInThePipelineStaysSo) {
  buffer.append(0, 0, 0, now);
  acknowledge({0});
  buffer.transmitted(kFirst, 1, 5);
  EXPECT_EQ(buffer.at(kFirst).state, RecordState::acked);
  Psn oldest = 0;
  EXPECT_FALSE(buffer.oldest_outstanding(oldest));
  EXPECT_EQ(buffer.oldest_sent(0), kNever);
}

TEST_F(RetransmitBufferTest, OvertakenCountsInOrderOfSending) {
  send(4);
  // The first goes again after the fourth: what it is overtaken by must have been sent after that.
  buffer.declare_lost(kFirst);
  buffer.take_lost(now);
  buffer.transmitted(kFirst, 1, ++now);
  Psn oldest = 0;
  ASSERT_TRUE(buffer.oldest_outstanding(oldest));
  EXPECT_EQ(oldest, psn(1));
  acknowledge({1, 2, 3});
  EXPECT_EQ(lose_overtaken(1), (std::vector<Psn>{}));
  send(2);
  acknowledge({4});
  std::vector<Psn> found;
  buffer.find_overtaken(1, found);
  EXPECT_EQ(found, (std::vector<Psn>{kFirst}));
  EXPECT_EQ(lose_overtaken(2), (std::vector<Psn>{}));
  EXPECT_EQ(lose_overtaken(1), (std::vector<Psn>{kFirst}));
  EXPECT_EQ(buffer.at(kFirst).lost_by, CutCause::loss);
  EXPECT_EQ(buffer.oldest_lost(), kFirst);
}

TEST_F(RetransmitBufferTest, AnAckOfASecondCopySaysNothingAboutOthers) {
  send(2);
  buffer.declare_lost(psn(1));
  buffer.take_lost(now);
  buffer.transmitted(psn(1), 1, ++now);
  acknowledge({1});
  EXPECT_EQ(lose_overtaken(1), (std::vector<Psn>{}));
}

TEST_F(RetransmitBufferTest, OverdueIsWhatWasSentLongAgo) {
  send(5);  // at 1 to 5
  acknowledge({1});
  now = 13;
  std::vector<Psn> found;
  buffer.find_overdue(0, 10, now, found);
  EXPECT_EQ(buffer.oldest_sent(0), 1U);
  EXPECT_EQ(lose_overdue(13), (std::vector<Psn>{}));
  EXPECT_EQ(lose_overdue(10), (std::vector<Psn>{psn(0), psn(2)}));
  EXPECT_EQ(found, (std::vector<Psn>{psn(0), psn(2)})) << "what it would do is what it did";
  EXPECT_EQ(buffer.oldest_sent(0), 4U);
}

TEST_F(RetransmitBufferTest, TimersRunApart) {
  send(1);
  buffer.append(0, 0, psn(1), now);
  buffer.transmitted(psn(1), 0, ++now, 2);
  EXPECT_EQ(buffer.timers(), 3U);
  EXPECT_EQ(buffer.oldest_sent(0), 1U);
  EXPECT_EQ(buffer.oldest_sent(1), kNever);
  EXPECT_EQ(buffer.oldest_sent(2), 2U);
  now = 100;
  EXPECT_EQ(lose_overdue(50, 1), (std::vector<Psn>{}));
  EXPECT_EQ(lose_overdue(50, 2), (std::vector<Psn>{psn(1)}));
  EXPECT_EQ(buffer.oldest_sent(0), 1U);
}

}  // namespace
}  // namespace mrc
