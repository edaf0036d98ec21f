#include "nic/port.h"

#include "neighbours.h"
#include "nic/rx/parser.h"

namespace mrc::box_test {
namespace {

constexpr TimePs kMac = 100 * kNs;
constexpr TimePs kCable = 150 * kNs;
constexpr std::uint32_t kFrame = 4262;      ///< bytes on the wire of a packet with 4 KiB
constexpr TimePs kFrameTime = kFrame * 80;  ///< at 100 Gb/s

ScenarioConfig port_config() {
  ScenarioConfig scenario = small_nic();
  NicConfig& nic = scenario.node_default.nic;
  nic.port_gbps = 100;
  nic.port.mac_fec_latency_ns = 100;
  nic.port.tx_fifo_bytes = 2 * kFrame;
  nic.parser.queue_entries = 2;
  return scenario;
}

struct PortTest : testing::Test {
  Bench bench{port_config()};
  Everybody others{bench};
  timing::Parser parser{"parser", bench.parked, bench.nic};
  Link transmit{kCable, Link::DueAt::last_bit};
  Link receive{kCable, Link::DueAt::last_bit};
  timing::Port box{"box", bench.wheel, bench.nic, 0, transmit, receive};
  FarEnd far{"far", bench.wheel, transmit};

  void SetUp() override { box.connect(others.spray_scheduler, parser.in(), others.idle_causes, others.overrun_causes); }
  void send(std::uint32_t packets) {
    for (Psn psn = 0; psn < packets; ++psn) {
      ASSERT_TRUE(box.has_data_room(0, kFrame));
      box.reserve_data(0, kFrame);
      box.send_data(0, bench.packet(Opcode::write_only, 4096, psn), 0);
    }
  }
};

TEST_F(PortTest, LatencyOfMacAndCableAndAnIntervalOfTheLine) {
  send(2);
  bench.run_until(2000 * kNs);
  EXPECT_EQ(far.last_bits, times(kFrameTime + kMac + kCable, kFrameTime, 2));
  box.slot.finish(2000 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 2 * kFrameTime);
}

TEST_F(PortTest, ControlGoesFirst) {
  send(2);
  box.control().push(0, bench.packet(Opcode::sack), 10 * kNs);
  bench.run_until(2000 * kNs);
  EXPECT_EQ(far.opcodes, (std::vector<Opcode>{Opcode::write_only, Opcode::sack, Opcode::write_only}));
}

TEST_F(PortTest, RoomForDataIsFreeWhenTheLastBitHasLeft) {
  send(2);
  EXPECT_FALSE(box.has_data_room(0, kFrame));
  bench.run_until(kFrameTime);
  EXPECT_FALSE(box.has_data_room(kFrameTime - 1, kFrame));
  bench.run_until(kFrameTime + 1);
  EXPECT_TRUE(box.has_data_room(kFrameTime, kFrame));
}

TEST_F(PortTest, WhatFindsNoRoomInFrontOfTheParserIsDroppedAndChargedToTheParser) {
  others.overrun_causes.connect(parser);
  for (Psn psn = 0; psn < 3; ++psn)
    receive.send(0, (psn + 1) * kFrameTime, *bench.packet(Opcode::write_only, 4096, psn));
  bench.run_until(5000 * kNs);
  EXPECT_EQ(parser.in().size(), 2U);
  EXPECT_EQ(parser.in().ready_at(), kFrameTime + kCable + kMac);
  EXPECT_EQ(bench.nic.box_counters.rx_overrun, 1U);
  EXPECT_EQ(others.overrun_causes.by_cause()[bench.find("parser").index()], 1U);
}

}  // namespace
}  // namespace mrc::box_test
