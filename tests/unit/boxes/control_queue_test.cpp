#include "nic/control/control_queue.h"

#include "box_bench.h"

namespace mrc::box_test {
namespace {

using timing::ControlPacket;

ScenarioConfig control_queue_config() {
  return small_nic(&NicConfig::control_queue);
}

struct ControlQueueTest : testing::Test {
  Bench bench{control_queue_config()};
  Fifo<Packet*> port0 = queue<Packet*>("port0.control_fifo", 1);
  Fifo<Packet*> port1 = queue<Packet*>("port1.control_fifo", 1);
  timing::ControlQueue box{"control_queue", bench.wheel, bench.nic, {&port0, &port1}};

  void owe(std::uint32_t packets) {
    for (Psn psn = 0; psn < packets; ++psn) box.in().push(0, {bench.packet(Opcode::sack, 0, psn), 0}, 0);
  }
};

TEST_F(ControlQueueTest, LatencyAndIntervalOverThePlanesInTurn) {
  Taker<Packet*> first("first", bench.wheel, port0);
  Taker<Packet*> second("second", bench.wheel, port1);
  owe(4);
  bench.run_until(60 * kNs);
  std::vector<TimePs> all = first.times;
  all.insert(all.end(), second.times.begin(), second.times.end());
  std::sort(all.begin(), all.end());
  // An entry holds its place in the FIFO for the latency: the third packet finds room when the first has left.
  EXPECT_EQ(all, (std::vector<TimePs>{7 * kNs, 10 * kNs, 14 * kNs, 17 * kNs}));
  EXPECT_EQ(first.times.size(), 2U);
  EXPECT_EQ(second.times.size(), 2U);
}

TEST_F(ControlQueueTest, WaitsForAPortWithRoomAndIsChargedToIt) {
  Taker<Packet*> first("first", bench.wheel, port0, 40 * kNs);
  Taker<Packet*> second("second", bench.wheel, port1, 90 * kNs);
  owe(3);
  bench.run_until(39 * kNs);
  EXPECT_EQ(box.in().size(), 1U);
  bench.run_until(100 * kNs);
  EXPECT_EQ(first.times, (std::vector<TimePs>{40 * kNs, 47 * kNs}));
  EXPECT_EQ(second.times, (std::vector<TimePs>{90 * kNs}));
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "port.encap_fifo"), 34 * kNs);
}

TEST_F(ControlQueueTest, PassesNoPacketToAPortThatIsDown) {
  Taker<Packet*> first("first", bench.wheel, port0);
  Taker<Packet*> second("second", bench.wheel, port1);
  bench.nic.ports_up = 0b10;
  owe(2);
  bench.run_until(60 * kNs);
  EXPECT_TRUE(first.times.empty());
  EXPECT_EQ(second.times, (std::vector<TimePs>{7 * kNs, 14 * kNs}));
}

}  // namespace
}  // namespace mrc::box_test
