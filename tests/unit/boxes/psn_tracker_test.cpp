#include "nic/rx/psn_tracker.h"

#include "neighbours.h"
#include "pcie/host_memory.h"

namespace mrc::box_test {
namespace {

using timing::AckJob;
using timing::WriteJob;

ScenarioConfig psn_tracker_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::psn_tracker);
  NicConfig& nic = scenario.node_default.nic;
  nic.dma_write.queue_entries = 4;
  nic.rx_staging.bytes = 4 * 4096;
  nic.qp_scheduler.contexts_at_start = 1;
  return scenario;
}

struct PsnTrackerTest : testing::Test {
  explicit PsnTrackerTest(const ScenarioConfig& scenario = psn_tracker_config(), std::uint32_t qps = 1)
      : bench(scenario, qps) {}

  Bench bench;
  Everybody others{bench};
  HostMemory memory{PayloadMode::reference, KeyedRandom(1, "memory")};
  Fifo<Packet*> in = queue<Packet*>("psn_tracker.queue", 32);
  Fifo<AckJob> transport_acks = queue<AckJob>("ack_coalescer.transport_acks", 4);
  Fifo<AckJob> answers = queue<AckJob>("ack_coalescer.queue", 4);
  Fifo<Packet*> sacks = queue<Packet*>("sack_processor.queue", 1);
  timing::DmaWrite dma_write{"dma_write", bench.parked,   bench.nic,         *others.pcie,
                             memory,      transport_acks, others.completions};
  timing::SackProcessor sack_processor{"sack_processor", bench.parked, bench.nic, sacks};
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  timing::QpScheduler scheduler{"scheduler", bench.wheel, bench.nic, *pcie, others.retransmit_buffer};
  timing::PsnTracker box{"psn_tracker", bench.wheel, bench.nic, in, dma_write, answers, nullptr, nullptr, nullptr};

  void SetUp() override { box.connect(others.probe_engine, sack_processor, scheduler); }
  void receive(Psn psn, std::uint32_t bytes = 4096, std::uint32_t qp = 0, TimePs now = 0) {
    Packet* packet = bench.packet(Opcode::write_middle, bytes, psn);
    packet->destination_qp = bench.nic.qps[qp].number;
    packet->dma_length = 1 << 30;
    bench.nic.rx_work.begin(now);
    in.push(now, packet, now);
  }
};

TEST_F(PsnTrackerTest, LatencyAndInterval) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  for (Psn psn = 0; psn < 4; ++psn) receive(psn);
  bench.run_until(50 * kNs);
  EXPECT_EQ(write.times, times(7 * kNs, 3 * kNs, 4));
  EXPECT_EQ(dma_write.staging().level(), 4U * 4096);
}

TEST_F(PsnTrackerTest, APacketThatMovesTheEdgeOverABankTakesTwoCyclesMore) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  for (Psn psn = 0; psn < 12; ++psn) receive(psn + 118, 64);
  // 118 … 129 arrive above a hole; 0 … 116 are in already, 117 fills it.
  for (Psn psn = 0; psn < 117; ++psn) bench.responder(0).accept(*bench.packet(Opcode::write_middle, 64, psn), {}, 0);
  receive(117, 64);
  bench.run_until(100 * kNs);
  ASSERT_EQ(write.times.size(), 13U);
  EXPECT_EQ(write.times[11], 40 * kNs);
  // The edge runs from 116 to 129, into the second bank.
  EXPECT_EQ(write.times[12], 45 * kNs);
}

TEST_F(PsnTrackerTest, WaitsForRoomForItsAnswersAndIsChargedToIt) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers, 50 * kNs);
  answers.push(0, {.trigger = {}, .nack = {}, .transport_ack = {}}, 0);
  answers.push(0, {.trigger = {}, .nack = {}, .transport_ack = {}}, 0);
  receive(0);
  bench.run_until(100 * kNs);
  EXPECT_EQ(write.times, std::vector<TimePs>{57 * kNs});
  box.slot.finish(100 * kNs);
  EXPECT_EQ(bench.blocked_ps(box.slot, "ack_coalescer.queue"), 50 * kNs);
}

TEST_F(PsnTrackerTest, RefusesWhatFindsNoStaging) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  dma_write.reserve_staging(0, 4 * 4096);
  receive(0);
  bench.run_until(50 * kNs);
  EXPECT_TRUE(write.times.empty());
  ASSERT_EQ(coalescer.items.size(), 1U);
  EXPECT_EQ(coalescer.times[0], 7 * kNs);
  EXPECT_EQ(coalescer.items[0].nack.reason, NackReason::no_pkt_buffer);
}

TEST_F(PsnTrackerTest, RefusesWhatFindsNoDescriptor) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  for (Psn psn = 0; psn < 5; ++psn) receive(psn, 64);
  bench.run_until(50 * kNs);
  EXPECT_EQ(dma_write.in().size(), 4U);
  ASSERT_EQ(coalescer.items.size(), 1U);
  EXPECT_EQ(coalescer.items[0].nack.nack_psn, 4U);
  EXPECT_EQ(coalescer.items[0].nack.reason, NackReason::no_resource);
}

/// QPs 0 to 2 have their contexts on the NIC, the others in host memory; two packets may wait.
struct Contexts : PsnTrackerTest {
  static constexpr std::uint32_t kQps = 8;
  Contexts() : PsnTrackerTest(with_contexts(), kQps) {}
  static ScenarioConfig with_contexts() {
    ScenarioConfig scenario = psn_tracker_config();
    NicConfig& nic = scenario.node_default.nic;
    nic.qp_scheduler.contexts_at_start = 3;
    nic.psn_tracker.context_wait_entries = 2;
    nic.dma_write.queue_entries = 32;
    return scenario;
  }
};

TEST_F(Contexts, APacketWaitsForTheReadOfItsContextAndOthersPassIt) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  receive(0, 64, 5);
  receive(1, 64, 5);
  receive(0, 64, 0);
  bench.run_until(3000 * kNs);
  ASSERT_EQ(write.times.size(), 3U);
  EXPECT_EQ(write.items[0].qp, 0U);
  EXPECT_EQ(write.times[0], 13 * kNs);
  EXPECT_EQ(write.items[1].qp, 5U);
  // The read of the host's memory, and the one packet behind the other.
  EXPECT_GT(write.times[1], 500 * kNs);
  EXPECT_EQ(write.times[2] - write.times[1], 3 * kNs);
  EXPECT_EQ(buffer(box, "psn_tracker.context_wait").high_water(), 2U);
  box.slot.finish(3000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "qp_scheduler.context_miss"), 450 * kNs);
}

TEST_F(Contexts, WhenAllPlacesAreTakenTheQueueWaits) {
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  for (const std::uint32_t qp : {5U, 6U, 7U, 0U}) receive(0, 64, qp);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(write.items.size(), 4U);
  // Its context is on the NIC, but the packet in front of it has no place to wait.
  EXPECT_GT(write.times[2], 500 * kNs);
  box.slot.finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot, "psn_tracker.context_wait"), 300 * kNs);
}

struct OneContext : PsnTrackerTest {
  OneContext() : PsnTrackerTest(with_one_context(), 2) {}
  static ScenarioConfig with_one_context() {
    ScenarioConfig scenario = psn_tracker_config();
    NicConfig& nic = scenario.node_default.nic;
    nic.qp_scheduler.contexts_at_start = 0;
    nic.qp_scheduler.context_cache_entries = 1;
    return scenario;
  }
};

TEST_F(OneContext, WhatAWaitingPacketUsedIsReadAgainOnceItsPlaceWasTaken) {
  constexpr TimePs kApart = 5000 * kNs;
  Taker<WriteJob> write("write", bench.wheel, dma_write.in());
  Taker<AckJob> coalescer("coalescer", bench.wheel, answers);
  std::vector<std::unique_ptr<At>> received;
  for (Psn i = 0; i < 6; ++i) {
    received.push_back(std::make_unique<At>(fmt::format("received{}", i).c_str(), bench.wheel, i * kApart,
                                            [&, i](TimePs now) { receive(i / 2, 64, i % 2, now); }));
  }
  bench.run_until(6 * kApart);
  ASSERT_EQ(write.times.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_GT(write.times[i] - i * kApart, 500 * kNs) << i;
}

}  // namespace
}  // namespace mrc::box_test
