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

}  // namespace
}  // namespace mrc::box_test
