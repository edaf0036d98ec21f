#include "nic/control/retransmit_timer.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig retransmit_timer_config() {
  ScenarioConfig scenario = small_nic();
  scenario.protocol.timeout_exponent = 1;
  return scenario;
}

/// The box has no issue slot and no queue: a timeout takes no time and is never held up.
struct RetransmitTimerTest : testing::Test {
  Bench bench{retransmit_timer_config(), 2};
  Everybody others{bench};
  Fifo<Packet*> sacks = queue<Packet*>("sack_processor.queue", 1);
  timing::SackProcessor sack_processor{"sack_processor", bench.parked, bench.nic, sacks};
  timing::RetransmitTimer box{"box", bench.wheel, bench.nic};

  void SetUp() override {
    others.connect(sack_processor);
    box.connect(sack_processor, others.qp_scheduler);
  }
  void sent(std::uint32_t qp, TimePs at) {
    bench.post(qp, 4096);
    others.retransmit_buffer.reserve_entry(0);
    const SendPlan plan = bench.requestor(qp).take(at);
    bench.requestor(qp).transmitted(plan.psn, 0, at);
    box.update(qp, at);
  }
  std::uint64_t timeouts(std::uint32_t qp) { return bench.requestor(qp).counters().timeouts; }
};

TEST_F(RetransmitTimerTest, APacketWithoutAnAnswerIsLostAfterTheTimeout) {
  sent(0, 0);
  sent(1, 100 * kNs);
  const TimePs deadline = bench.requestor(0).next_deadline();
  ASSERT_NE(deadline, kNever);
  bench.run_until(deadline);
  EXPECT_EQ(timeouts(0), 0U);
  bench.run_until(deadline + 1);
  EXPECT_EQ(timeouts(0), 1U);
  EXPECT_EQ(timeouts(1), 0U);
  EXPECT_TRUE(bench.requestor(0).next_is_retransmission());
  EXPECT_TRUE(others.qp_scheduler.is_listed(0)) << "the scheduler looks at the QP";
  bench.run_until(deadline + 100 * kNs + 1);
  EXPECT_EQ(timeouts(1), 1U);
}

TEST_F(RetransmitTimerTest, AnAnswerInTimeStopsIt) {
  sent(0, 0);
  const TimePs deadline = bench.requestor(0).next_deadline();
  bench.requestor(0).on_transport_ack({.msn = 1}, deadline / 2);
  bench.run_until(4 * deadline);
  EXPECT_EQ(timeouts(0), 0U);
}

/// The NIC holds one context, that of QP 0.
struct RetransmitTimerContexts : testing::Test {
  static ScenarioConfig with_one_context() {
    ScenarioConfig scenario = retransmit_timer_config();
    hold_first_contexts(scenario, 1);
    return scenario;
  }

  Bench bench{with_one_context(), 2};
  Everybody others{bench};
  ContextSource contexts{bench, others.retransmit_buffer};
  Fifo<Packet*> sacks = queue<Packet*>("sack_processor.queue", 1);
  timing::SackProcessor sack_processor{"sack_processor", bench.parked, bench.nic, sacks};
  timing::RetransmitTimer box{"box", bench.wheel, bench.nic};
  Taker<timing::Grant> segmenter{"segmenter", bench.wheel, contexts.scheduler.grants()};

  void SetUp() override {
    others.connect(sack_processor, contexts.scheduler);
    box.connect(sack_processor, contexts.scheduler);
  }
  /// Returns the deadline.
  TimePs sent(std::uint32_t qp) {
    bench.post(qp, 4096);
    others.retransmit_buffer.reserve_entry(0);
    const SendPlan plan = bench.requestor(qp).take(0);
    bench.requestor(qp).transmitted(plan.psn, 0, 0);
    box.update(qp, 0);
    return bench.requestor(qp).next_deadline();
  }
  std::uint64_t timeouts(std::uint32_t qp) { return bench.requestor(qp).counters().timeouts; }
};

TEST_F(RetransmitTimerContexts, ATimeoutWaitsForTheContextOfItsQp) {
  const TimePs deadline = sent(1);
  bench.run_until(deadline + 900 * kNs);
  EXPECT_EQ(timeouts(1), 0U);
  bench.run_until(deadline + 2000 * kNs);
  EXPECT_EQ(timeouts(1), 1U);
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 1U);
}

TEST_F(RetransmitTimerContexts, OneWhoseContextIsHereDoesNotWait) {
  const TimePs deadline = sent(0);
  bench.run_until(deadline + 1);
  EXPECT_EQ(timeouts(0), 1U);
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 0U);
}

TEST_F(RetransmitTimerContexts, AnAnswerThatComesMeanwhileStopsIt) {
  const TimePs deadline = sent(1);
  At answered("answered", bench.wheel, deadline + 500 * kNs,
              [&](TimePs now) { bench.requestor(1).on_transport_ack({.msn = 1}, now); });
  bench.run_until(4 * deadline);
  EXPECT_EQ(timeouts(1), 0U);
}

}  // namespace
}  // namespace mrc::box_test
