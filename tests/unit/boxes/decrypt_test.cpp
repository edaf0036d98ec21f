#include "nic/rx/decrypt.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig decrypt_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::decrypt);
  scenario.protocol.encryption.framing = CryptoFraming::psp;
  scenario.protocol.encryption.replay_window = 64;
  scenario.fabric.trim_bytes = 192;
  NicConfig& nic = scenario.node_default.nic;
  nic.parser.pipeline = {.latency_cycles = 1, .initiation_interval_cycles = 1};
  nic.decrypt.width_bits = 1024;
  nic.decrypt.queue_entries = 16;
  nic.psn_tracker.queue_entries = 4;
  nic.sack_processor.queue_entries = 1;
  nic.datapath_bits = 4096;
  // The packet buffer is not what is measured here.
  nic.memory.packet_buffer.banks = 64;
  answer_reads_after(scenario, 500);
  return scenario;
}

struct DecryptTest : testing::Test {
  explicit DecryptTest(const ScenarioConfig& scenario = decrypt_config(), std::uint32_t qps = 1)
      : bench(scenario, qps) {}

  Bench bench;
  Associated keys{bench};
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::Parser parser{"parser", bench.wheel, bench.nic};
  timing::Decrypt box{"decrypt", bench.wheel, bench.nic, *pcie, parser};

  Packet* receive(std::uint64_t number, std::uint32_t bytes = 64, std::uint32_t qp = 0, TimePs now = 0) {
    Packet* packet = bench.packet(Opcode::write_only, bytes, static_cast<Psn>(number));
    packet->destination_qp = bench.nic.qps[qp].number;
    packet->packet_number = number;
    parser.in().push(now, packet, now);
    return packet;
  }
  const EncryptionCounters& counted() const { return bench.nic.counters.encryption; }
};

TEST_F(DecryptTest, APacketGoesOnWhenItsTagIsRight) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  for (std::uint64_t number = 1; number <= 4; ++number) receive(number);
  bench.run_until(100 * kNs);
  // The parser's cycle, the one word of 112 B, and the latency of 7.
  EXPECT_EQ(tracker.times, times(9 * kNs, 3 * kNs, 4));
  EXPECT_EQ(counted().decrypted, 4U);
  box.slot.finish(100 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(DecryptTest, ALongPacketGoesOnBehindItsLastWord) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  for (std::uint64_t number = 1; number <= 3; ++number) receive(number, 4096);
  bench.run_until(300 * kNs);
  // 4,144 B are 33 words.
  EXPECT_EQ(tracker.times, times((1 + 33 + 7) * kNs, 33 * kNs, 3));
}

TEST_F(DecryptTest, WaitsForRoomInTheTrackersQueueAndIsChargedToIt) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker(), 60 * kNs);
  for (std::uint64_t number = 1; number <= 6; ++number) receive(number);
  bench.run_until(200 * kNs);
  ASSERT_EQ(tracker.times.size(), 6U);
  EXPECT_EQ(tracker.times[4], 68 * kNs);
  box.slot.finish(200 * kNs);
  // Four packets have passed by 13 ns.
  EXPECT_EQ(bench.blocked_ps(box.slot, "psn_tracker.queue"), 47 * kNs);
}

TEST_F(DecryptTest, AnEncryptedSackGoesToTheSackProcessor) {
  Taker<Packet*> processor("processor", bench.wheel, parser.to_sack_processor());
  Packet* sack = bench.packet(Opcode::sack);
  sack->packet_number = 1;
  parser.in().push(0, sack, 0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(processor.times, std::vector<TimePs>{9 * kNs});
}

TEST_F(DecryptTest, ACorruptedPacketFailsItsTagAndDoesNotMoveTheWindow) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(1'000)->damage = Damage::corrupted;
  receive(1);
  bench.run_until(100 * kNs);
  EXPECT_EQ(tracker.items.size(), 1U);
  EXPECT_EQ(counted().tag_failures, 1U);
  EXPECT_EQ(bench.nic.counters.corrupted_received, 0U);
  EXPECT_EQ(bench.nic.box_counters.damaged.packets, 1U);
  EXPECT_FALSE(bench.nic.rx_work.active() && tracker.items.empty());
}

TEST_F(DecryptTest, DropsReplaysAndWhatIsBelowTheWindow) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  for (const std::uint64_t number : {5, 5, 80, 17, 16, 80}) receive(number);
  bench.run_until(200 * kNs);
  // 80 leaves 17 … 80 in a window of 64.
  ASSERT_EQ(tracker.items.size(), 3U);
  EXPECT_EQ(tracker.items[2]->packet_number, 17U);
  EXPECT_EQ(counted().replayed, 2U);
  EXPECT_EQ(counted().too_old, 1U);
}

TEST_F(DecryptTest, ATrimmedPacketPassesWithoutATagAndDoesNotMoveTheWindow) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(5'000, 4096)->damage = Damage::trimmed;
  receive(1, 4096);
  bench.run_until(200 * kNs);
  ASSERT_EQ(tracker.items.size(), 2U);
  // 192 B of frame, of which 118 are in front of the ciphertext: one word.
  EXPECT_EQ(tracker.times[0], 9 * kNs);
}

struct TrimmedIsLost : DecryptTest {
  TrimmedIsLost() : DecryptTest(lost()) {}
  static ScenarioConfig lost() {
    ScenarioConfig scenario = decrypt_config();
    scenario.protocol.encryption.trimmed = TrimmedAction::drop;
    return scenario;
  }
};

TEST_F(TrimmedIsLost, WhereNothingIsBelievedWithoutATag) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(1, 4096)->damage = Damage::trimmed;
  bench.run_until(200 * kNs);
  EXPECT_TRUE(tracker.items.empty());
  EXPECT_EQ(counted().unverified, 1U);
  EXPECT_FALSE(bench.nic.rx_work.active());
}

struct ControlInTheClear : DecryptTest {
  ControlInTheClear() : DecryptTest(clear()) {}
  static ScenarioConfig clear() {
    ScenarioConfig scenario = decrypt_config();
    scenario.protocol.encryption.control = false;
    return scenario;
  }
};

TEST_F(ControlInTheClear, PassesBesideTheEngine) {
  Taker<Packet*> processor("processor", bench.wheel, parser.to_sack_processor());
  parser.in().push(0, bench.packet(Opcode::sack), 0);
  Packet* corrupted = bench.packet(Opcode::sack);
  corrupted->damage = Damage::corrupted;
  parser.in().push(0, corrupted, 0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(processor.times, std::vector<TimePs>{1 * kNs});
  EXPECT_EQ(bench.nic.counters.corrupted_received, 1U);
  EXPECT_EQ(counted().tag_failures, 0U);
}

/// Three QPs, of which two have their keys on the NIC; two packets may wait.
struct FewReceiveKeys : DecryptTest {
  FewReceiveKeys() : DecryptTest(few_keys(), 3) {}
  static ScenarioConfig few_keys() {
    ScenarioConfig scenario = decrypt_config();
    scenario.node_default.nic.decrypt.key_cache_entries = 2;
    scenario.node_default.nic.decrypt.key_wait_entries = 2;
    return scenario;
  }
};

TEST_F(FewReceiveKeys, APacketWaitsForItsKeyAndOthersPassIt) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(1, 64, 2);
  receive(2, 64, 2);
  receive(1, 64, 0);
  bench.run_until(3000 * kNs);
  ASSERT_EQ(tracker.items.size(), 3U);
  EXPECT_EQ(tracker.items[0]->destination_qp, bench.nic.qps[0].number);
  EXPECT_EQ(tracker.times[0], 15 * kNs);
  EXPECT_GT(tracker.times[1], 500 * kNs);
  EXPECT_EQ(tracker.times[2] - tracker.times[1], 3 * kNs);
  EXPECT_EQ(bench.nic.box_counters.decrypt_key_misses, 1U);
  box.slot.finish(3000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "decrypt.key_miss"), 450 * kNs);
}

TEST_F(FewReceiveKeys, WhenAllPlacesAreTakenTheQueueWaits) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  for (std::uint64_t number = 1; number <= 3; ++number) receive(number, 64, 2);
  receive(1, 64, 0);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(tracker.items.size(), 4U);
  EXPECT_GT(tracker.times[0], 500 * kNs);
  box.slot.finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "decrypt.key_wait"), 450 * kNs);
}

TEST_F(DecryptTest, WithoutAnAssociationAPacketIsDropped) {
  Taker<Packet*> tracker("tracker", bench.wheel, parser.to_psn_tracker());
  receive(1)->destination_qp = 4711;
  bench.run_until(100 * kNs);
  EXPECT_TRUE(tracker.items.empty());
  EXPECT_EQ(counted().unknown, 1U);
}

}  // namespace
}  // namespace mrc::box_test
