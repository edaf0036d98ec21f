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

double charge_of(const ChargedTime& charged, std::uint32_t node, Cause pool) {
  const auto row = charged.find(StartPoint::after(node, 0, pool).pool_key());
  return row == charged.end() ? 0 : row->second;
}

double sum_of(const ChargedTime& charged) {
  double sum = 0;
  for (const auto& [pool, time] : charged) sum += time;
  return sum;
}

class CriticalPath : public testing::Test {
 protected:
  CriticalPath() { trace.begin(); }

  StartId arrive(std::uint32_t place, TimePs at, StartId from) {
    return trace.add(at, from, StartPoint::at_arrival(kNode, place));
  }
  StartId wait(std::uint32_t place, Cause pool, TimePs at, StartId from) {
    return trace.add(at, from, StartPoint::after(kNode, place, pool));
  }

  CausalTrace trace;
};

TEST_F(CriticalPath, AServerThatNeverRestsIsChargedItsIntervals) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 100; at <= 1'000; at += 100) start = wait(kBox, kServer, at, start);
  arrive(StartPoint::kPorts, 1'030, start);
  const ChargedTime charged = charge_critical_path(trace, kNode);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kServer), 900) << "the first interval closes no cycle";
  EXPECT_DOUBLE_EQ(sum_of(charged), 900);
}

TEST_F(CriticalPath, ATokenIsChargedTheTimeOfItsWayRound) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 10'000; at += 1'000) {
    start = arrive(StartPoint::kPorts, at + 50, start);
    start = trace.add(at + 600, start, StartPoint::at_arrival(kPeer, kFarBox));
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 10'050, start);
  const ChargedTime charged = charge_critical_path(trace, kNode);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kTokens), 10'000);
}

TEST_F(CriticalPath, ABusyServerOnATokensWayIsTheCauseAndNotTheToken) {
  // Each token waits at the far box behind nine others.
  StartId served = trace.add(0, 0, StartPoint::at_arrival(kPeer, kFarBox));
  StartId start = 0;
  for (TimePs at = 100; at <= 10'000; at += 100) {
    served = trace.add(at, served, StartPoint::after(kPeer, kFarBox, kServer));
    start = wait(kBox, kTokens, at + 10, served);
    start = arrive(StartPoint::kPorts, at + 20, start);
  }
  const ChargedTime charged = charge_critical_path(trace, kNode);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kTokens), 0);
  EXPECT_GT(charge_of(charged, kPeer, kServer), 9'000);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kServer), 0) << "causes of the two nodes are told apart";
}

TEST_F(CriticalPath, ACycleInsideACycleIsTakenOutOfIt) {
  // A loop of 1,000 of which 300 are spent in the other box's three intervals.
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 5'000; at += 1'000) {
    start = arrive(kOther, at + 100, start);
    for (TimePs turn = 1; turn <= 3; ++turn) start = wait(kOther, kServer, at + 100 + 100 * turn, start);
    start = arrive(StartPoint::kPorts, at + 500, start);
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 5'010, start);
  const ChargedTime charged = charge_critical_path(trace, kNode);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kServer), 5 * 300);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kTokens), 5 * 700);
}

TEST_F(CriticalPath, TheTimeInWhichThePortsSendIsChargedToNobody) {
  StartId start = arrive(StartPoint::kPorts, 0, 0);
  for (TimePs at = 300; at <= 3'000; at += 300) start = wait(StartPoint::kPorts, kLine, at, start);
  EXPECT_DOUBLE_EQ(sum_of(charge_critical_path(trace, kNode)), 0);
}

TEST_F(CriticalPath, ADelayIsChargedByItselfAndTheRestInEqualParts) {
  StartId start = arrive(kBox, 0, 0);
  for (TimePs at = 0; at < 3'000; at += 1'000) {
    start = trace.add(at + 400, start, StartPoint::delayed_by(kPeer, kFarBox, kMoreTokens));
    start = wait(kOther, kServer, at + 700, start);
    start = wait(kBox, kTokens, at + 1'000, start);
  }
  arrive(StartPoint::kPorts, 3'010, start);
  const ChargedTime charged = charge_critical_path(trace, kNode);
  EXPECT_DOUBLE_EQ(charge_of(charged, kPeer, kMoreTokens), 3 * 400);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kServer), 3 * 300);
  EXPECT_DOUBLE_EQ(charge_of(charged, kNode, kTokens), 3 * 300);
}

TEST_F(CriticalPath, StartsOfAnEarlierWindowAreUnknown) {
  const StartId old = arrive(kBox, 0, 0);
  trace.end();
  trace.begin();
  EXPECT_EQ(trace.find(old), nullptr);
  const StartId start = wait(kBox, kServer, 100, old);
  EXPECT_NE(trace.find(start), nullptr);
  arrive(StartPoint::kPorts, 110, start);
  EXPECT_DOUBLE_EQ(sum_of(charge_critical_path(trace, kNode)), 0);
}

TEST_F(CriticalPath, AWindowEndsWhenItIsFull) {
  for (std::size_t i = 0; i < CausalTrace::kWindow; ++i) {
    ASSERT_TRUE(trace.recording());
    arrive(kBox, i, 0);
  }
  EXPECT_TRUE(trace.full());
  EXPECT_FALSE(trace.recording());
}

}  // namespace
}  // namespace mrc
