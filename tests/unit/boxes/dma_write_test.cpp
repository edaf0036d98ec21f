#include "nic/rx/dma_write.h"

#include "neighbours.h"
#include "pcie/host_memory.h"

namespace mrc::box_test {
namespace {

using timing::AckJob;
using timing::WriteJob;

ScenarioConfig dma_write_config() {
  return small_nic(&NicConfig::dma_write);
}

struct DmaWriteTest : testing::Test {
  explicit DmaWriteTest(const ScenarioConfig& scenario = dma_write_config()) : bench(scenario) {
    bench.responder(0).post_receive(16);
  }

  Bench bench;
  std::unique_ptr<PcieDma> pcie = make_pcie(bench, bench.wheel);
  HostMemory memory{PayloadMode::reference, KeyedRandom(1, "memory")};
  Fifo<AckJob> transport_acks = queue<AckJob>("ack_coalescer.transport_acks", 2);
  Fifo<Cqe> completions = queue<Cqe>("completion.queue", 1);
  timing::DmaWrite box{"dma_write", bench.wheel, bench.nic, *pcie, memory, transport_acks, completions};

  /// Messages of one packet each, accepted by ring 1.
  void accepted(std::uint32_t packets, std::uint32_t bytes, Opcode opcode = Opcode::write_only) {
    for (Psn psn = 0; psn < packets; ++psn) {
      Packet* packet = bench.packet(opcode, bytes, psn);
      packet->msn = static_cast<std::uint16_t>(psn);
      packet->rqmsn = static_cast<std::uint16_t>(psn);
      const RxDecision decision = bench.responder(0).accept(*packet, {}, 0);
      ASSERT_TRUE(decision.place);
      bench.nic.rx_work.begin(0);
      box.reserve_staging(0, bytes);
      box.in().push(0, {packet, 0, decision.closes_messages}, 0);
    }
  }
};

TEST_F(DmaWriteTest, LatencyUntilTheWriteHasLeft) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, transport_acks);
  accepted(1, 256);
  bench.run_until(50 * kNs);
  ASSERT_EQ(coalescer.times.size(), 1U);
  // 7 ns of its own, 2 ns of pcie_dma, and 256 B on the line.
  EXPECT_GE(coalescer.times[0], 10 * kNs);
  EXPECT_LE(coalescer.times[0], 13 * kNs);
  EXPECT_EQ(bench.nic.counters.delivered_bytes, 256U);
  box.settle(50 * kNs);
  EXPECT_EQ(box.staging().level(), 0U);
}

TEST_F(DmaWriteTest, WritesAreAsFarApartAsTheLineTakesForThem) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, transport_acks);
  accepted(6, 4096);
  bench.run_until(1000 * kNs);
  ASSERT_EQ(coalescer.times.size(), 6U);
  const TimePs interval = coalescer.times[2] - coalescer.times[1];
  // Gen6 x16 carries 4 KiB in 16 TLPs in 32 ns and the headers.
  EXPECT_GT(interval, 32 * kNs);
  EXPECT_LT(interval, 40 * kNs);
  EXPECT_NEAR(static_cast<double>(coalescer.times[5] - coalescer.times[1]), 4.0 * static_cast<double>(interval), 10.0);
}

TEST_F(DmaWriteTest, WaitsForRoomForTransportAcksAndIsChargedToIt) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, transport_acks, 500 * kNs);
  accepted(4, 256);
  bench.run_until(499 * kNs);
  EXPECT_EQ(box.in().size(), 2U);
  bench.run_until(1000 * kNs);
  EXPECT_EQ(coalescer.times.size(), 4U);
  box.slot().finish(1000 * kNs);
  const TimePs blocked = bench.blocked_ps(box.slot(), "ack_coalescer.queue");
  EXPECT_GT(blocked, 480 * kNs);
  EXPECT_LT(blocked, 500 * kNs);
}

TEST_F(DmaWriteTest, WaitsForRoomForCompletionsAndIsChargedToIt) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, transport_acks);
  Taker<Cqe> host("host", bench.wheel, completions, 500 * kNs);
  accepted(2, 256, Opcode::write_only_imm);
  bench.run_until(1000 * kNs);
  ASSERT_EQ(host.times.size(), 2U);
  EXPECT_GE(host.times[1], 500 * kNs);
  EXPECT_EQ(host.items[1].kind, Cqe::Kind::receive);
  box.slot().finish(1000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot(), "completion.queue"), 480 * kNs);
}

struct FewCredits : DmaWriteTest {
  FewCredits() : DmaWriteTest(with_few_credits()) {}
  static ScenarioConfig with_few_credits() {
    ScenarioConfig scenario = dma_write_config();
    scenario.node_default.pcie.posted_data_credits = 4096 / 16;
    scenario.node_default.pcie.credit_return_ns = 1000;
    return scenario;
  }
};

TEST_F(FewCredits, WaitsForPostedCreditsAndIsChargedToThem) {
  Taker<AckJob> coalescer("coalescer", bench.wheel, transport_acks);
  accepted(2, 4096);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(coalescer.times.size(), 2U);
  EXPECT_GT(coalescer.times[1] - coalescer.times[0], 1000 * kNs);
  box.slot().finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box.slot(), "pcie.posted_credits"), 900 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
