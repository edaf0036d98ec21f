#include "nic/control/sack_processor.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig sack_processor_config() {
  ScenarioConfig scenario = small_nic();
  scenario.node_default.nic.sack_processor.pipeline = {.latency_cycles = 8, .initiation_interval_cycles = 10};
  return scenario;
}

struct SackProcessorTest : testing::Test {
  Bench bench{sack_processor_config()};
  Everybody others{bench};
  Fifo<Packet*> in = queue<Packet*>("sack_processor.queue", 16);
  timing::SackProcessor box{"sack_processor", bench.wheel, bench.nic, in};

  void SetUp() override { others.connect(box); }
  /// Messages of one packet each are in flight.
  void sent(std::uint32_t messages) {
    auto& requestor = bench.requestor(0);
    for (std::uint32_t i = 0; i < messages; ++i) {
      bench.post(0, 4096);
      others.retransmit_buffer.reserve_entry(0);
      const SendPlan plan = requestor.take(0);
      requestor.transmitted(plan.psn, 0, 0);
    }
  }
  void transport_ack(std::uint32_t messages) {
    Packet* packet = bench.packet(Opcode::transport_ack);
    packet->transport_ack = {.msn = messages};
    in.push(0, packet, 0);
  }
  void sack(Psn cack) {
    Packet* packet = bench.packet(Opcode::sack, 0, cack);
    packet->sack = {};
    packet->sack.cack_psn = cack;
    packet->sack.entropy = bench.nic.qps[0].paths->value(0);
    in.push(0, packet, 0);
  }
};

TEST_F(SackProcessorTest, ASackFreesRecordsAtOnce) {
  sent(3);
  sack(1);
  bench.run_until(1);
  EXPECT_EQ(buffer(others.retransmit_buffer, "retransmit_buffer.entries").level(), 1U);
  EXPECT_TRUE(others.qp_scheduler.is_listed(0)) << "the scheduler looks at the QP";
}

TEST_F(SackProcessorTest, OneAnswerPerIntervalAndACycleMorePerPsnOfASack) {
  Taker<Cqe> completion("completion", bench.wheel, others.completions);
  sent(4);
  sack(1);
  transport_ack(1);
  transport_ack(2);
  bench.run_until(100 * kNs);
  // The SACK moves past two PSNs.
  EXPECT_EQ(completion.times, (std::vector<TimePs>{12 * kNs, 22 * kNs}));
  box.slot.finish(100 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 32 * kNs);
}

TEST_F(SackProcessorTest, WaitsForRoomForCompletionsAndIsChargedToIt) {
  Taker<Cqe> completion("completion", bench.wheel, others.completions, 100 * kNs);
  sent(4);
  for (std::uint32_t messages = 1; messages <= 4; ++messages) transport_ack(messages);
  bench.run_until(99 * kNs);
  EXPECT_EQ(in.size(), 2U);
  bench.run_until(200 * kNs);
  EXPECT_EQ(completion.times, (std::vector<TimePs>{100 * kNs, 100 * kNs, 100 * kNs, 110 * kNs}));
  box.slot.finish(200 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "completion.queue"), 80 * kNs);
}

/// The first QPs have their contexts on the NIC, which holds no more; two packets may wait for those of the others.
struct SackProcessorContexts : testing::Test {
  static constexpr std::uint32_t kQps = 6;
  explicit SackProcessorContexts(std::uint32_t held = 3) : bench(with_contexts(held), kQps) {}
  static ScenarioConfig with_contexts(std::uint32_t held) {
    ScenarioConfig scenario = sack_processor_config();
    hold_first_contexts(scenario, held);
    scenario.node_default.nic.sack_processor.context_wait_entries = 2;
    return scenario;
  }

  Bench bench;
  Everybody others{bench};
  ContextSource contexts{bench, others.retransmit_buffer};
  Fifo<Packet*> in = queue<Packet*>("sack_processor.queue", 16);
  timing::SackProcessor box{"sack_processor", bench.wheel, bench.nic, in};
  Taker<Cqe> completion{"completion", bench.wheel, others.completions};

  void SetUp() override { others.connect(box, contexts.scheduler); }
  /// The answer to a message of one packet.
  void acknowledge(std::uint32_t qp, TimePs now = 0) {
    bench.post(qp, 4096);
    others.retransmit_buffer.reserve_entry(now);
    const SendPlan plan = bench.requestor(qp).take(now);
    bench.requestor(qp).transmitted(plan.psn, 0, now);
    Packet* packet = bench.packet(Opcode::transport_ack);
    packet->destination_qp = bench.nic.qps[qp].number;
    packet->transport_ack = {.msn = 1};
    in.push(now, packet, now);
  }
  std::vector<std::uint32_t> completed() const {
    std::vector<std::uint32_t> qps;
    for (const Cqe& cqe : completion.items) qps.push_back(cqe.qp);
    return qps;
  }
};

TEST_F(SackProcessorContexts, AnAnswerWaitsForTheContextOfItsQpAndOthersPassIt) {
  acknowledge(5);
  acknowledge(1);
  bench.run_until(500 * kNs);
  EXPECT_EQ(completed(), std::vector<std::uint32_t>{1});
  std::uint32_t held = 0;
  box.for_each_packet_held([&](const Packet&) { ++held; });
  EXPECT_EQ(held, 1U);
  bench.run_until(3000 * kNs);
  EXPECT_EQ(completed(), (std::vector<std::uint32_t>{1, 5}));
  EXPECT_EQ(completion.times[0], 10 * kNs) << "the one that waits takes an interval as well";
  EXPECT_GT(completion.times[1], 1000 * kNs);
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 1U);
  EXPECT_EQ(buffer(box, "sack_processor.context_wait").high_water(), 1U);
  box.slot.finish(3000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "qp_scheduler.context_miss"), 900 * kNs);
}

TEST_F(SackProcessorContexts, WhenAllPlacesAreTakenTheQueueWaits) {
  for (const std::uint32_t qp : {3U, 4U, 5U, 1U}) acknowledge(qp);
  bench.run_until(900 * kNs);
  EXPECT_TRUE(completed().empty());
  EXPECT_EQ(in.size(), 2U);
  bench.run_until(5000 * kNs);
  EXPECT_EQ(completed().size(), 4U);
  box.slot.finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "sack_processor.context_wait"), 900 * kNs);
}

struct SackProcessorOneContext : SackProcessorContexts {
  SackProcessorOneContext() : SackProcessorContexts(1) {}
};

TEST_F(SackProcessorOneContext, WhatWasReadIsUsedOnceEvenIfAnotherHasTakenItsPlace) {
  for (const std::uint32_t qp : {3U, 4U}) acknowledge(qp);
  bench.run_until(1500 * kNs);
  EXPECT_EQ(completed(), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_GE(bench.nic.box_counters.contexts_evicted, 2U) << "that of QP 3 for that of QP 4";
}

TEST(SackProcessorWithAllContexts, AsksForNone) {
  ScenarioConfig scenario = sack_processor_config();
  hold_first_contexts(scenario, 2);
  Bench bench(scenario, 2);
  Everybody others(bench);
  ContextSource contexts(bench, others.retransmit_buffer);
  Fifo<Packet*> in = queue<Packet*>("sack_processor.queue", 16);
  timing::SackProcessor box("sack_processor", bench.wheel, bench.nic, in);
  others.connect(box, contexts.scheduler);
  in.push(0, bench.packet(Opcode::transport_ack), 0);
  bench.run_until(100 * kNs);
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(bench.nic.box_counters.contexts_read, 0U);
  EXPECT_TRUE(box.buffers().empty()) << "no place to wait is listed";
}

}  // namespace
}  // namespace mrc::box_test
