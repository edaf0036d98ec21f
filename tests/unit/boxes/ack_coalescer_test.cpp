#include "nic/control/ack_coalescer.h"

#include "box_bench.h"

namespace mrc::box_test {
namespace {

using timing::AckJob;
using timing::ControlPacket;

ScenarioConfig ack_coalescer_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::ack_coalescer);
  scenario.node_default.nic.ack_coalescer.queue_entries = 8;
  return scenario;
}

struct AckCoalescerTest : testing::Test {
  Bench bench{ack_coalescer_config()};
  Fifo<ControlPacket> out = queue<ControlPacket>("control_queue", 4);
  timing::AckCoalescer box{"ack_coalescer", bench.wheel, bench.nic, out, nullptr, nullptr};

  void owe_nacks(std::uint32_t count) {
    for (Psn psn = 0; psn < count; ++psn) {
      AckJob job{.kind = AckJob::Kind::nack, .trigger = {}, .nack = {}, .transport_ack = {}};
      job.nack = {.nack_psn = psn, .reason = NackReason::no_bitmap};
      box.in().push(0, job, 0);
    }
  }
};

TEST_F(AckCoalescerTest, LatencyAndInterval) {
  Taker<ControlPacket> control("control", bench.wheel, out);
  owe_nacks(4);
  bench.run_until(50 * kNs);
  EXPECT_EQ(control.times, times(7 * kNs, 3 * kNs, 4));
  EXPECT_EQ(control.items[2].packet->opcode, Opcode::nack);
  EXPECT_EQ(control.items[2].packet->psn, 2U);
  box.slot.finish(50 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(AckCoalescerTest, TransportAcksGoFirst) {
  Taker<ControlPacket> control("control", bench.wheel, out);
  owe_nacks(1);
  box.transport_acks().push(0, {.kind = AckJob::Kind::transport_ack, .trigger = {}, .nack = {}, .transport_ack = {}},
                            0);
  bench.run_until(50 * kNs);
  ASSERT_EQ(control.items.size(), 2U);
  EXPECT_EQ(control.items[0].packet->opcode, Opcode::transport_ack);
  EXPECT_EQ(control.items[1].packet->opcode, Opcode::nack);
}

TEST_F(AckCoalescerTest, WaitsForRoomInTheControlQueueAndIsChargedToIt) {
  Taker<ControlPacket> control("control", bench.wheel, out, 40 * kNs);
  owe_nacks(6);
  bench.run_until(39 * kNs);
  EXPECT_EQ(box.in().size(), 2U);
  bench.run_until(80 * kNs);
  EXPECT_EQ(control.times, (std::vector<TimePs>{40 * kNs, 40 * kNs, 40 * kNs, 40 * kNs, 47 * kNs, 50 * kNs}));
  box.slot.finish(80 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "control_queue"), 28 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
