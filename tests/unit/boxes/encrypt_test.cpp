#include "nic/tx/encrypt.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig encrypt_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::encrypt);
  scenario.protocol.encryption.framing = CryptoFraming::psp;
  NicConfig& nic = scenario.node_default.nic;
  nic.encrypt.width_bits = 1024;
  nic.datapath_bits = 1024;
  nic.port.control_fifo_entries = 2;
  answer_reads_after(scenario, 500);
  return scenario;
}

struct EncryptTest : testing::Test {
  explicit EncryptTest(const ScenarioConfig& scenario = encrypt_config(), std::uint32_t qps = 1)
      : bench(scenario, qps) {
    box.send_control_to({&port0, &port1});
  }

  Bench bench;
  Associated keys{bench};
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  Fifo<TxPacket> in = queue<TxPacket>("retransmit_buffer.queue", 16);
  Fifo<Packet*> port0 = queue<Packet*>("port0.control_fifo", 2);
  Fifo<Packet*> port1 = queue<Packet*>("port1.control_fifo", 2);
  timing::Encrypt box{"encrypt", bench.wheel, bench.nic, *pcie, in};

  void send(std::uint32_t packets, std::uint32_t bytes, std::uint32_t qp = 0) {
    for (Psn psn = 0; psn < packets; ++psn) {
      Packet* packet = bench.packet(Opcode::write_only, bytes, psn);
      packet->destination_node = 1;
      packet->destination_qp = bench.nic.qps[qp].peer_number;
      put({packet, 0, qp, true}, 0);
    }
  }
  void put(const TxPacket& tx, TimePs now) {
    ASSERT_TRUE(box.ask_for_key(now, tx, box));
    in.push(now, tx, now);
  }
  void send_sack(std::uint8_t plane) {
    Packet* sack = bench.packet(Opcode::sack);
    sack->destination_node = 1;
    sack->plane = plane;
    box.control()[plane]->push(0, sack, 0);
  }
};

TEST_F(EncryptTest, LatencyAndInterval) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(4, 64);
  bench.run_until(100 * kNs);
  EXPECT_EQ(encap.times, times(7 * kNs, 3 * kNs, 4));
  box.slot.finish(100 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(EncryptTest, NumbersArePerAssociationFromOne) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(3, 64);
  bench.run_until(100 * kNs);
  ASSERT_EQ(encap.items.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(encap.items[i].packet->packet_number, i + 1);
  EXPECT_EQ(bench.nic.counters.encryption.encrypted, 3U);
}

TEST_F(EncryptTest, ALongPacketTakesACyclePerWord) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(3, 4096);
  bench.run_until(200 * kNs);
  // 4,096 B and 48 B of headers and ICRC: 33 words of 128 B.
  EXPECT_EQ(encap.times, times(7 * kNs, 33 * kNs, 3));
}

struct NarrowEngine : EncryptTest {
  NarrowEngine() : EncryptTest(narrow()) {}
  static ScenarioConfig narrow() {
    ScenarioConfig scenario = encrypt_config();
    scenario.node_default.nic.encrypt.width_bits = 256;
    return scenario;
  }
};

TEST_F(NarrowEngine, HandsAPacketOnSoThatItsLastWordIsThereInTime) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(2, 4096);
  bench.run_until(500 * kNs);
  // 130 words of 32 B, of which the datapath needs 33 cycles: 97 later than at full width.
  EXPECT_EQ(encap.times, times((7 + 97) * kNs, 130 * kNs, 2));
}

TEST_F(EncryptTest, WaitsForRoomBehindItAndIsChargedToIt) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out(), 50 * kNs);
  send(6, 64);
  expect_held_up_by_queue(bench, box.slot, encap, "encrypt.queue");
}

TEST_F(EncryptTest, ControlGoesFirstAndToItsPort) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  Taker<Packet*> line0("line0", bench.wheel, port0);
  Taker<Packet*> line1("line1", bench.wheel, port1);
  send(1, 64);
  send_sack(1);
  send_sack(0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(line0.times, std::vector<TimePs>{7 * kNs});
  EXPECT_EQ(line1.times, std::vector<TimePs>{10 * kNs});
  EXPECT_EQ(encap.times, std::vector<TimePs>{13 * kNs});
  EXPECT_EQ(encap.items[0].packet->packet_number, 3U);
}

TEST_F(EncryptTest, DataPassesControlWhosePortIsFull) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  Taker<Packet*> line0("line0", bench.wheel, port0, 80 * kNs);
  for (int i = 0; i < 3; ++i) send_sack(0);
  send(1, 64);
  bench.run_until(60 * kNs);
  // Two SACKs fill the port's queue.
  EXPECT_EQ(encap.times, std::vector<TimePs>{13 * kNs});
  bench.run_until(200 * kNs);
  EXPECT_EQ(line0.items.size(), 3U);
  box.slot.finish(200 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "port.encap_fifo"), 60 * kNs);
}

/// Three QPs, of which two have their keys on the NIC; two packets may wait.
struct FewKeys : EncryptTest {
  FewKeys() : EncryptTest(few_keys(), 3) {}
  static ScenarioConfig few_keys() {
    ScenarioConfig scenario = encrypt_config();
    scenario.node_default.nic.encrypt.key_cache_entries = 2;
    scenario.node_default.nic.encrypt.key_wait_entries = 2;
    return scenario;
  }
};

TEST_F(FewKeys, APacketWaitsForItsKeyAndOthersPassIt) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(2, 64, 2);
  send(1, 64, 0);
  bench.run_until(3000 * kNs);
  ASSERT_EQ(encap.items.size(), 3U);
  EXPECT_EQ(encap.items[0].qp, 0U);
  EXPECT_EQ(encap.times[0], 13 * kNs);
  // The read of the host's memory, and the one packet behind the other.
  EXPECT_GT(encap.times[1], 500 * kNs);
  EXPECT_EQ(encap.times[2] - encap.times[1], 3 * kNs);
  EXPECT_EQ(bench.nic.box_counters.encrypt_key_misses, 1U);
  EXPECT_EQ(buffer(box, "encrypt.key_wait").high_water(), 2U);
  box.slot.finish(3000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "encrypt.key_miss"), 450 * kNs);
}

TEST_F(FewKeys, WhenAllPlacesAreTakenTheQueueWaits) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(3, 64, 2);
  send(1, 64, 0);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(encap.items.size(), 4U);
  EXPECT_GT(encap.times[0], 500 * kNs);
  box.slot.finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "encrypt.key_wait"), 450 * kNs);
}

TEST_F(FewKeys, WhoHasAskedMayUseItsKeyEvenIfItWasEvictedSince) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  Packet* early = bench.packet(Opcode::write_only, 64);
  const TxPacket asked{early, 0, 0, true};
  ASSERT_TRUE(box.ask_for_key(0, asked, box));
  // QPs 1 and 2 take both places, and QP 0 reads its key again.
  send(1, 64, 1);
  send(1, 64, 2);
  At later("later", bench.wheel, 2000 * kNs, [&](TimePs now) {
    put({bench.packet(Opcode::write_only, 64), 0, 0, true}, now);
    in.push(now, asked, now);
  });
  bench.run_until(5000 * kNs);
  ASSERT_EQ(encap.items.size(), 4U);
  EXPECT_EQ(encap.times[2], 2007 * kNs);
  EXPECT_GT(encap.times[3], 2500 * kNs);
}

TEST_F(FewKeys, TheLeastRecentlyUsedKeyMakesRoom) {
  Taker<TxPacket> encap("encap", bench.wheel, box.out());
  send(1, 64, 0);
  send(1, 64, 2);
  At later("later", bench.wheel, 2000 * kNs, [&](TimePs now) {
    for (const std::uint32_t qp : {0U, 1U}) {
      Packet* packet = bench.packet(Opcode::write_only, 64);
      put({packet, 0, qp, true}, now);
    }
  });
  bench.run_until(5000 * kNs);
  ASSERT_EQ(encap.items.size(), 4U);
  // QP 1 was never used and gave its place to QP 2: its key is read again, that of QP 0 is not.
  EXPECT_EQ(encap.items[2].qp, 0U);
  EXPECT_EQ(encap.times[2], 2007 * kNs);
  EXPECT_GT(encap.times[3], 2500 * kNs);
  EXPECT_EQ(bench.nic.box_counters.encrypt_key_misses, 2U);
}

}  // namespace
}  // namespace mrc::box_test
