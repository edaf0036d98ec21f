#include "nic/tx/payload_fetch.h"

#include "neighbours.h"
#include "pcie/host_memory.h"

namespace mrc::box_test {
namespace {

using timing::TxPacket;

ScenarioConfig payload_fetch_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::payload_fetch);
  scenario.node_default.nic.wqe_fetch.inline_bytes = 64;
  answer_reads_after(scenario, 1000);
  return scenario;
}

struct PayloadFetchTest : testing::Test {
  explicit PayloadFetchTest(const ScenarioConfig& scenario = payload_fetch_config()) : bench(scenario) {}

  Bench bench;
  HostMemory memory{PayloadMode::reference, KeyedRandom(1, "memory")};
  Fifo<TxPacket> in = queue<TxPacket>("segmenter.queue", 16);
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::RetransmitBuffer retransmit_buffer{"retransmit_buffer", bench.parked, bench.nic};

  void send(std::uint32_t packets, std::uint32_t bytes) {
    const std::uint64_t address = memory.add_source_region(1 << 20);
    for (Psn psn = 0; psn < packets; ++psn) {
      in.push(0, {bench.packet(Opcode::write_only, bytes, psn), address + std::uint64_t{psn} * 4096, 0, false}, 0);
    }
  }
};

TEST_F(PayloadFetchTest, InlinePayloadHasTheBoxesLatencyAndInterval) {
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *pcie, memory, retransmit_buffer, in);
  Taker<TxPacket> spray("spray", bench.wheel, box.out());
  send(4, 64);
  bench.run_until(50 * kNs);
  EXPECT_EQ(spray.times, times(7 * kNs, 3 * kNs, 4));
  EXPECT_TRUE(spray.items[0].from_sram);
  box.slot.finish(50 * kNs);
  EXPECT_EQ(box.slot.busy_ps(), 12 * kNs);
}

TEST_F(PayloadFetchTest, PayloadOfTheHostComesInOrderAfterItsRead) {
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *pcie, memory, retransmit_buffer, in);
  Taker<TxPacket> spray("spray", bench.wheel, box.out());
  send(3, 512);
  bench.run_until(2000 * kNs);
  ASSERT_EQ(spray.times.size(), 3U);
  EXPECT_GT(spray.times[0], 1007 * kNs);
  EXPECT_LT(spray.times[0], 1050 * kNs);
  for (Psn psn = 0; psn < 3; ++psn) EXPECT_EQ(spray.items[psn].packet->psn, psn);
  // 512 B in completions of 256 B on a Gen6 x16 line.
  EXPECT_NEAR(static_cast<double>(spray.times[2] - spray.times[0]), 2 * 4540.0, 100.0);
}

TEST_F(PayloadFetchTest, ReadsNoFurtherAheadThanItsQueueAndIsChargedToIt) {
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *pcie, memory, retransmit_buffer, in);
  send(6, 512);
  bench.run_until(900 * kNs);
  EXPECT_EQ(in.size(), 2U);
  box.slot.finish(900 * kNs);
  // Four places, all taken by reads that are under way.
  EXPECT_EQ(bench.blocked_ps(box.slot, "payload_fetch.queue"), 888 * kNs);
}

TEST_F(PayloadFetchTest, IsChargedToTheSpraySchedulerThatTakesNothing) {
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *pcie, memory, retransmit_buffer, in);
  Taker<TxPacket> spray("spray", bench.wheel, box.out(), 100 * kNs);
  send(5, 64);
  bench.run_until(150 * kNs);
  EXPECT_EQ(spray.times.size(), 5U);
  EXPECT_EQ(spray.times.back(), 107 * kNs);
  box.slot.finish(150 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "spray_scheduler"), 88 * kNs);
}

struct ManyPlaces : PayloadFetchTest {
  ManyPlaces() : PayloadFetchTest(with_many_places()) {}
  static ScenarioConfig with_many_places() {
    ScenarioConfig scenario = payload_fetch_config();
    scenario.node_default.nic.payload_fetch.queue_entries = 64;
    return scenario;
  }
};

TEST_F(ManyPlaces, WaitsForRoomInTheReadQueueAndIsChargedToIt) {
  // PCIe takes nothing: its queue of 8 reads fills.
  std::unique_ptr<PcieDma> idle = PcieDma::create("idle_pcie", bench.parked, bench.nic.config.pcie, bench.nic.clock,
                                                  KeyedRandom(1, "pcie"), bench.nic.tx_work, bench.nic.causes);
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *idle, memory, retransmit_buffer, in);
  send(10, 512);
  bench.run_until(100 * kNs);
  EXPECT_EQ(in.size(), 2U);
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "pcie.read_queue"), 76 * kNs);
}

struct AtArrival : PayloadFetchTest {
  AtArrival() : PayloadFetchTest(with_two_records()) {}
  static ScenarioConfig with_two_records() {
    ScenarioConfig scenario = payload_fetch_config();
    scenario.node_default.nic.payload_fetch.queue_entries = 6;
    scenario.node_default.nic.retransmit_buffer.reserve_record = RecordReservation::at_arrival;
    scenario.node_default.nic.retransmit_buffer.entries = 2;
    return scenario;
  }
};

TEST_F(AtArrival, WhatHasNoRecordWaitsAndRetransmissionsPassIt) {
  timing::PayloadFetch box("payload_fetch", bench.wheel, bench.nic, *pcie, memory, retransmit_buffer, in);
  Taker<TxPacket> spray("spray", bench.wheel, box.out());
  std::uint32_t asked = 0;
  for (; retransmit_buffer.has_entry(0); ++asked) retransmit_buffer.reserve_entry(0);
  // One place is kept for a retransmission, although there are records for two only.
  EXPECT_EQ(asked, 5U);
  send(5, 64);
  Packet* again = bench.packet(Opcode::write_only, 64, 99);
  again->retransmission = true;
  in.push(0, {again, memory.add_source_region(4096), 0, false}, 0);
  At release("release", bench.wheel, 3000 * kNs, [&](TimePs now) { retransmit_buffer.release(now, 1, 0); });
  bench.run_until(2900 * kNs);
  ASSERT_EQ(spray.items.size(), 3U);
  EXPECT_EQ(spray.items[2].packet->psn, 99U);
  // As many as have left may ask for their payload; then records are what is missing.
  for (asked = 0; retransmit_buffer.has_entry(2900 * kNs); ++asked) retransmit_buffer.reserve_entry(2900 * kNs);
  EXPECT_EQ(asked, 2U);
  EXPECT_EQ(bench.nic.causes.name(retransmit_buffer.missing()), "retransmit_buffer.entries");
  bench.run_until(3100 * kNs);
  ASSERT_EQ(spray.items.size(), 4U);
  EXPECT_EQ(spray.items[3].packet->psn, 2U);
  EXPECT_TRUE(retransmit_buffer.has_entry(3100 * kNs));
}

}  // namespace
}  // namespace mrc::box_test
