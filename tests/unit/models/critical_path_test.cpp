// The walk over recorded starts: which cycle is charged, with how much, on traces made by hand.
#include "engine/critical_path.h"

#include <gtest/gtest.h>

namespace mrc {
namespace {

constexpr std::uint32_t kNode = 0;
constexpr std::uint32_t kPeer = 1;
constexpr std::uint32_t kBox = 1;
constexpr std::uint32_t kOther = 2;
constexpr std::uint32_t kFarBox = 3;
constexpr Cause kServer = Cause::at(0);
constexpr Cause kTokens = Cause::at(1);
constexpr Cause kMoreTokens = Cause::at(2);
constexpr Cause kLine = Cause::at(3);

class CriticalPathTest : public testing::Test {
 protected:
  CriticalPathTest() { trace.begin(0, CausalTrace::kMostRecords); }

  StartId arrive(std::uint32_t place, TimePs at, StartId from) {
    return trace.add(at, from, StartPoint::at_arrival(kNode, place));
  }
  StartId wait(std::uint32_t place, Cause pool, TimePs at, StartId from) {
    return trace.add(at, from, StartPoint::after(kNode, place, pool));
  }

  CriticalPath& walk(double packet_ps = 0) {
    path.walk(trace, kNode, kNever, packet_ps);
    return path;
  }
  double charge_of(std::uint32_t node, Cause pool) const {
    return path.charged_ps(StartPoint::after(node, StartPoint::kPorts, pool));
  }

  CausalTrace trace;
  CriticalPath path{2, 1};
};

TEST_F(CriticalPathTest, AServerThatNeverRestsIsChargedItsIntervals) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 100; at <= 1'000; at += 100) start = wait(kBox, kServer, at, start);
  arrive(StartPoint::kPorts, 1'030, start);
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kNode, kServer), 900) << "the first interval closes no cycle";
  EXPECT_DOUBLE_EQ(path.total_ps(), 900);
}

TEST_F(CriticalPathTest, ATokenIsChargedTheTimeOfItsWayRound) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 10'000; at += 1'000) {
    start = arrive(StartPoint::kPorts, at + 50, start);
    start = trace.add(at + 600, start, StartPoint::at_arrival(kPeer, kFarBox));
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 10'050, start);
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kNode, kTokens), 10'000);
}

TEST_F(CriticalPathTest, ABusyServerOnATokensWayIsTheCauseAndNotTheToken) {
  // Each token waits at the far box behind nine others.
  StartId served = trace.add(0, 0, StartPoint::at_arrival(kPeer, kFarBox));
  StartId start = 0;
  for (TimePs at = 100; at <= 10'000; at += 100) {
    served = trace.add(at, served, StartPoint::after(kPeer, kFarBox, kServer));
    start = wait(kBox, kTokens, at + 10, served);
    start = arrive(StartPoint::kPorts, at + 20, start);
  }
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kNode, kTokens), 0);
  EXPECT_GT(charge_of(kPeer, kServer), 9'000);
  EXPECT_DOUBLE_EQ(charge_of(kNode, kServer), 0) << "causes of the two nodes are told apart";
}

TEST_F(CriticalPathTest, ACycleInsideACycleIsTakenOutOfIt) {
  // A loop of 1,000 of which 300 are spent in the other box's three intervals.
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 5'000; at += 1'000) {
    start = arrive(kOther, at + 100, start);
    for (TimePs turn = 1; turn <= 3; ++turn) start = wait(kOther, kServer, at + 100 + 100 * turn, start);
    start = arrive(StartPoint::kPorts, at + 500, start);
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 5'010, start);
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kNode, kServer), 5 * 300);
  EXPECT_DOUBLE_EQ(charge_of(kNode, kTokens), 4 * 700 + 510) << "what comes before the first port closes no cycle";
}

TEST_F(CriticalPathTest, AServerOnATokensWayIsChargedWhatItTakesLongerThanThePorts) {
  // A message of ten packets goes through the other box at 100 each, and its token is away for 1,000 more.
  StartId start = arrive(kBox, 0, 0);
  StartId sent = 0;
  for (TimePs at = 0; at < 20'000; at += 2'000) {
    start = arrive(kOther, at + 100, start);
    for (TimePs turn = 1; turn <= 10; ++turn) {
      start = wait(kOther, kServer, at + 100 + 100 * turn, start);
      sent = arrive(StartPoint::kPorts, at + 150 + 100 * turn, start);
    }
    start = wait(kBox, kTokens, at + 2'000, sent);
  }
  sent = arrive(StartPoint::kPorts, 20'010, start);
  const auto charged_for = [&](double packet_ps) {
    walk(packet_ps);
    return std::pair(charge_of(kNode, kServer), charge_of(kNode, kTokens));
  };
  const auto [server, tokens] = charged_for(0);
  EXPECT_DOUBLE_EQ(server, 100 * 100);
  // The box has eleven starts and the ports ten for each message.
  const auto [slow_server, same_tokens] = charged_for(66);
  EXPECT_NEAR(slow_server, 100 * 40, 100 * 2);
  EXPECT_DOUBLE_EQ(same_tokens, tokens);
  EXPECT_DOUBLE_EQ(charged_for(120).first, 0) << "the box is faster than the ports";
  EXPECT_DOUBLE_EQ(charged_for(120).second, tokens);
}

TEST_F(CriticalPathTest, TheTimeInWhichThePortsSendIsChargedToNobody) {
  StartId start = arrive(StartPoint::kPorts, 0, 0);
  for (TimePs at = 300; at <= 3'000; at += 300) start = wait(StartPoint::kPorts, kLine, at, start);
  EXPECT_DOUBLE_EQ(walk().total_ps(), 0);
}

TEST_F(CriticalPathTest, ADelayIsChargedByItselfAndTheRestInEqualParts) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 3'000; at += 1'000) {
    start = trace.add(at + 400, start, StartPoint::delayed_by(kPeer, kFarBox, kMoreTokens));
    start = wait(kOther, kServer, at + 700, start);
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 3'010, start);
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kPeer, kMoreTokens), 2 * 400);
  EXPECT_DOUBLE_EQ(charge_of(kNode, kServer), 2 * 300);
  EXPECT_DOUBLE_EQ(charge_of(kNode, kTokens), 2 * 300);
}

TEST_F(CriticalPathTest, StartsOfAnEarlierWindowAreUnknown) {
  const StartId old = arrive(kBox, 0, 0);
  trace.end();
  trace.begin(0, CausalTrace::kMostRecords);
  EXPECT_EQ(trace.find(old), nullptr);
  const StartId start = wait(kBox, kServer, 100, old);
  EXPECT_NE(trace.find(start), nullptr);
  arrive(StartPoint::kPorts, 110, start);
  EXPECT_DOUBLE_EQ(walk().total_ps(), 0);
}

TEST_F(CriticalPathTest, TheWalkBeginsBeforeTheTimeThatItIsGiven) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 100; at <= 1'000; at += 100) {
    start = wait(kBox, kServer, at, start);
    arrive(StartPoint::kPorts, at + 30, start);
  }
  path.walk(trace, kNode, 530);
  EXPECT_DOUBLE_EQ(path.total_ps(), 300) << "from 430 back; the first interval closes no cycle";
}

TEST_F(CriticalPathTest, ALoopThatLeadsThroughAPlaceTwiceIsOneLoop) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 10'000; at += 1'000) {
    start = arrive(kOther, at + 100, start);
    start = arrive(kOther, at + 800, start);
    start = arrive(StartPoint::kPorts, at + 850, start);
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 10'050, start);
  walk();
  EXPECT_GE(charge_of(kNode, kTokens), 9'000) << "all but the last, which is not closed";
}

TEST_F(CriticalPathTest, TheWalkBeginsAtAPacketWhosePredecessorIsKnown) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 100; at <= 1'000; at += 100) start = wait(kBox, kServer, at, start);
  arrive(StartPoint::kPorts, 1'030, start);
  arrive(StartPoint::kPorts, 1'040, 0);
  walk();
  EXPECT_DOUBLE_EQ(charge_of(kNode, kServer), 900);
}

TEST_F(CriticalPathTest, AWindowEndsWhenItIsFull) {
  bool told = false;
  trace.tell(told);
  constexpr std::size_t few = 100;
  trace.begin(0, few);
  for (std::size_t i = 0; i < few; ++i) {
    ASSERT_TRUE(told);
    ASSERT_TRUE(trace.recording());
    arrive(kBox, i, 0);
  }
  EXPECT_TRUE(trace.full());
  EXPECT_FALSE(trace.recording());
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace mrc
