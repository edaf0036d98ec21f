#include "nic/tx/srv6_encap.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig srv6_encap_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::srv6_encap);
  NicConfig& nic = scenario.node_default.nic;
  nic.datapath_bits = 1024;
  nic.port.mac_fec_latency_ns = 100;
  return scenario;
}

struct Srv6EncapTest : testing::Test {
  explicit Srv6EncapTest(const ScenarioConfig& scenario = srv6_encap_config()) : bench(scenario) {}

  Bench bench;
  Everybody others{bench, bench.wheel};
  FarEnd far0{"far0", bench.wheel, *others.ports.transmit[0]};
  FarEnd far1{"far1", bench.wheel, *others.ports.transmit[1]};
  Fifo<TxPacket> in = queue<TxPacket>("retransmit_buffer.queue", 16);
  timing::Srv6Encap box{"srv6_encap", bench.wheel, bench.nic, *others.pcie, in, others.ports.all, nullptr};

  void send(std::uint32_t packets, std::uint32_t bytes, std::uint8_t plane) {
    for (Psn psn = 0; psn < packets; ++psn) {
      Packet* packet = bench.packet(Opcode::write_only, bytes, psn);
      packet->plane = plane;
      others.ports.all[plane]->reserve_data(0, wire_bytes(*packet, bench.scenario.protocol.encapsulation));
      in.push(0, {packet, 0, 0, true}, 0);
    }
  }
  void send_sack(std::uint8_t plane) {
    Packet* sack = bench.packet(Opcode::sack);
    sack->plane = plane;
    box.control()[plane]->push(0, sack, 0);
  }
};

TEST_F(Srv6EncapTest, LatencyUntilTheFirstBeatIsAtThePort) {
  send(1, 64, 1);
  bench.run_until(1000 * kNs);
  EXPECT_TRUE(far0.first_bits.empty());
  // After 7 ns the port begins to send; its MAC takes 100 ns, the cable 1 ns.
  EXPECT_EQ(far1.first_bits, std::vector<TimePs>{108 * kNs});
}

TEST_F(Srv6EncapTest, TakesOnePerInterval) {
  send(4, 64, 0);
  bench.run_until(5 * kNs);
  EXPECT_EQ(in.size(), 2U);
  bench.run_until(20 * kNs);
  EXPECT_TRUE(in.empty());
  box.slot.finish(20 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(Srv6EncapTest, ALongFrameTakesACyclePerBeat) {
  bench.nic.tx_work.begin(0);
  send(3, 4096, 0);
  bench.run_until(33 * kNs);
  EXPECT_EQ(in.size(), 2U);
  bench.run_until(34 * kNs);
  EXPECT_EQ(in.size(), 1U);
  bench.run_until(200 * kNs);
  box.slot.finish(200 * kNs);
  // 4,224 B of frame: 33 beats of 128 B. Room at the port is promised before, so that nothing holds the box up.
  EXPECT_EQ(box.slot.busy_ps(), 99 * kNs);
  EXPECT_EQ(box.slot.starved_ps(), 101 * kNs);
}

TEST_F(Srv6EncapTest, ControlPacketsGoFirstInTurnOfTheirPorts) {
  send(1, 64, 0);
  for (int i = 0; i < 2; ++i) send_sack(0);
  send_sack(1);
  bench.run_until(8 * kNs);
  EXPECT_EQ(in.size(), 1U) << "an interval of 3 ns each for three SACKs";
  EXPECT_TRUE(box.control()[0]->empty());
  EXPECT_TRUE(box.control()[1]->empty());
  bench.run_until(1000 * kNs);
  EXPECT_EQ(far0.opcodes, (std::vector<Opcode>{Opcode::sack, Opcode::sack, Opcode::write_only}));
  EXPECT_EQ(far1.opcodes, std::vector<Opcode>{Opcode::sack});
}

struct Srv6EncapWithSmallPorts : Srv6EncapTest {
  static ScenarioConfig config() {
    ScenarioConfig scenario = srv6_encap_config();
    scenario.node_default.nic.port.control_fifo_entries = 1;
    return scenario;
  }
  Srv6EncapWithSmallPorts() : Srv6EncapTest(config()) {}
};

TEST_F(Srv6EncapWithSmallPorts, AControlPacketWithoutRoomHoldsUpNoOther) {
  for (int i = 0; i < 3; ++i) send_sack(0);
  send_sack(1);
  send(1, 64, 1);
  bench.run_until(20 * kNs);
  EXPECT_GE(box.control()[0]->size(), 1U);
  EXPECT_TRUE(box.control()[1]->empty());
  EXPECT_TRUE(in.empty());
  bench.run_until(1000 * kNs);
  EXPECT_EQ(far0.opcodes.size(), 3U);
}

}  // namespace
}  // namespace mrc::box_test
