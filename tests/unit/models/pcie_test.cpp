#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "parameters/parameter_value.h"
#include "pcie/pcie_dma.h"
#include "pcie/pcie_latency.h"
#include "pcie_bench.h"

namespace mrc {
namespace {

using pcie_bench::Bench;
using pcie_bench::Load;

double read_gbps(const PcieConfig& config, std::uint32_t bytes, std::uint64_t offset = 0, int count = 20'000) {
  Bench bench("reads", config, {bytes, offset, count}, {});
  pcie_bench::run();
  return bench.reader.gbps();
}

double write_gbps(const PcieConfig& config, int count = 10'000) {
  Bench bench("writes", config, {}, {4096, 0, count});
  pcie_bench::run();
  return bench.writer.gbps();
}

/// Reads in order hold the buffer for their latency and for those before them; here it does not bind.
PcieConfig with_room() {
  PcieConfig config;
  config.completion_buffer_bytes = 1 << 20;
  return config;
}

TEST(PcieDma, Gen6ReadsReachTheLawOfTheLink) {
  const PcieConfig config = with_room();
  const PcieLaw law = pcie_law(config);
  const double limit = law.gbps * 256.0 / (256.0 + law.completion_overhead);
  EXPECT_NEAR(law.gbps, 944.0, 1e-9);
  EXPECT_GT(read_gbps(config, 4096), 0.985 * limit);
}

TEST(PcieDma, Gen6ReadsOffTheAlignmentCostOneRequestMore) {
  EXPECT_GT(read_gbps(with_room(), 4096, 64), 800.0);
}

TEST(PcieDma, TooFewTagsLimitByLatency) {
  PcieConfig config;
  config.read_tags = 64;
  // 64 tags of 512 B in 1.0 us mean latency: Little's law.
  EXPECT_NEAR(read_gbps(config, 4096), 64 * 512 * 8 / 1000.0, 15.0);
}

TEST(PcieDma, TooSmallACompletionBufferLimitsAlike) {
  PcieConfig config;
  config.completion_buffer_bytes = 32768;
  const double gbps = read_gbps(config, 4096);
  EXPECT_LT(gbps, 262.0);
  EXPECT_GT(gbps, 100.0);
}

TEST(PcieDma, WritesFollowTheLawAndThePostedCredits) {
  EXPECT_NEAR(write_gbps(PcieConfig{}), 944.0 * 256 / 272, 1.0);
}

TEST(PcieDma, FewPostedCreditsLimitByTheirReturn) {
  PcieConfig config;
  config.posted_header_credits = 16;
  // 16 TLPs of 256 B a credit round trip: their return latency and the time of one TLP.
  const double round_trip_ns = 300.0 + 272 * 8 / 944.0;
  EXPECT_NEAR(write_gbps(config), 16 * 256 * 8 / round_trip_ns, 1.0);
}

TEST(PcieDma, FiniteCompletionCreditsLimitByTheirReturn) {
  PcieConfig config;
  config.completion_header_credits = 16;
  const double round_trip_ns = 300.0 + 268 * 8 / 944.0;
  EXPECT_NEAR(read_gbps(config, 4096), 16 * 256 * 8 / round_trip_ns, 1.0);
}

TEST(PcieDma, FiniteCompletionDataCreditsLimitAlike) {
  PcieConfig config;
  config.completion_data_credits = 64;  // four TLPs of 256 B
  const double round_trip_ns = 300.0 + 268 * 8 / 944.0;
  EXPECT_NEAR(read_gbps(config, 4096), 4 * 256 * 8 / round_trip_ns, 1.0);
}

/// A read request stays behind the writes that were asked for before it; with another requester ID it may pass them.
TEST(PcieOrdering, AReadWaitsForEarlierWritesUnlessItsRequesterIdDiffers) {
  PcieConfig config;
  config.posted_header_credits = 8;
  config.credit_return_ns = 1000;
  config.read_latency_p99_ns = config.read_latency_mean_ns;
  PcieConfig passing = config;
  passing.id_based_ordering = true;
  Bench strict("strict", config, {64, 0, 1}, {});
  Bench ido("ido", passing, {64, 0, 1}, {});
  struct Sink : WriteClient {
    void write_left(std::uint64_t, TimePs, TimePs last_end) override { end = last_end; }
    TimePs end = 0;
  } strict_end, ido_end;
  // 32 TLPs with 8 credits: the last ones leave after three credit round trips.
  strict.pcie().write(0, 0, 0, 8192, strict_end, 0, WriteOrder::strict);
  ido.pcie().write(0, 0, 0, 8192, ido_end, 0, WriteOrder::strict);
  pcie_bench::run();
  EXPECT_GT(strict_end.end, 3'000'000u);
  EXPECT_GE(strict.reader.first_done, strict_end.end + 1'000'000);
  EXPECT_LT(ido.reader.first_done, 1'100'000u);
}

/// The host executes a read behind the writes before it.
TEST(PcieOrdering, AReadsAnswerComesAfterEarlierWritesAreVisible) {
  PcieConfig config;
  config.write_latency_ns = 5000;
  Bench bench("bench", config, {64, 0, 1}, {4096, 0, 1});
  bench.writer.step(0);
  pcie_bench::run();
  EXPECT_GE(bench.reader.first_done, bench.writer.last_end() + 5'000'000);
}

TEST(PcieOrdering, AnswersInOrderCostBandwidthWhereTagsAreShort) {
  PcieConfig config;
  config.read_tags = 128;
  PcieConfig in_order = config;
  in_order.completion_order = CompletionOrder::in_order;
  Bench any("any", config, {4096, 0, 5000}, {});
  Bench ordered("ordered", in_order, {4096, 0, 5000}, {});
  pcie_bench::run();
  EXPECT_LT(ordered.reader.gbps(), 0.95 * any.reader.gbps());
}

TEST(PcieStall, NothingStartsInTheWindowAndTheLedgerSaysSo) {
  const Load load{4096, 0, 2000};
  PcieConfig train;
  PcieConfig tlp;
  tlp.stepping = PcieStepping::tlp;
  struct Pair {
    Pair(const std::string& name, const PcieConfig& config, const Load& reads, const Load& writes)
        : free((name + "_free").c_str(), config, reads, writes),
          stalled((name + "_stalled").c_str(), config, reads, writes) {
      stalled.pcie().stall(20'000'000, 50'000'000);
      stalled.pcie().stall(45'000'000, 55'000'000);
    }
    Bench free;
    Bench stalled;
  };
  Pair train_reads("train_reads", train, load, {});
  Pair train_writes("train_writes", train, {}, load);
  Pair tlp_reads("tlp_reads", tlp, load, {});
  Pair tlp_writes("tlp_writes", tlp, {}, load);
  pcie_bench::run();
  for (Pair* pair : {&train_reads, &tlp_reads}) {
    const TimePs end = pair->stalled.reader.last_done;
    // At most one host latency of reads that were under way comes at once afterwards.
    EXPECT_NEAR(static_cast<double>(end - pair->free.reader.last_done), 35e6, 1.6e6);
    PcieDma& pcie = pair->stalled.pcie();
    pcie.read_data_slot().finish(end);
    EXPECT_NEAR(pair->stalled.blocked_ps(pcie.read_data_slot(), "pcie.stall"), 35e6, 0.1e6);
  }
  for (Pair* pair : {&train_writes, &tlp_writes}) {
    const TimePs end = pair->stalled.writer.last_end();
    EXPECT_NEAR(static_cast<double>(end - pair->free.writer.last_end()), 35e6, 0.3e6);
    PcieDma& pcie = pair->stalled.pcie();
    pcie.write_slot().finish(end);
    EXPECT_NEAR(pair->stalled.blocked_ps(pcie.write_slot(), "pcie.stall"), 35e6, 0.1e6);
  }
  EXPECT_NEAR(static_cast<double>(train_reads.stalled.reader.last_done),
              static_cast<double>(tlp_reads.stalled.reader.last_done),
              0.005 * static_cast<double>(tlp_reads.stalled.reader.last_done));
}

TEST(AddressTranslation, MissesOfReadsAndWritesAreCountedAndBlock) {
  PcieConfig config;
  config.address_translation.entries = 64;
  config.address_translation.miss_ns = 2000;
  config.address_translation.outstanding_misses = 4;
  PcieConfig off = config;
  off.address_translation.entries = 0;
  // Each read lies in a page of its own: 4 pages a miss latency.
  Bench misses("misses", config, {4096, 0, 2000}, {});
  // All in one page: one miss.
  Bench hits("hits", config, {4096, 0, 2000, 0}, {});
  Bench none("none", off, {4096, 0, 2000}, {});
  Bench writes("writes", config, {}, {4096, 0, 500});
  pcie_bench::run();
  EXPECT_NEAR(misses.reader.gbps(), 4 * 4096 * 8 / 2000.0, 1.0);
  EXPECT_EQ(misses.pcie().counts().translation_misses, 2000u);
  EXPECT_EQ(hits.pcie().counts().translation_misses, 1u);
  EXPECT_EQ(hits.pcie().counts().translation_lookups, 2000u);
  EXPECT_NEAR(hits.reader.gbps(), none.reader.gbps(), 0.001 * none.reader.gbps());
  EXPECT_EQ(none.pcie().counts().translation_lookups, 0u);
  IssueSlot& slot = misses.pcie().read_issue_slot();
  slot.finish(misses.reader.last_done);
  EXPECT_GT(misses.blocked_ps(slot, "pcie.address_translation"), 0.9 * static_cast<double>(misses.reader.last_done));
  IssueSlot& write_slot = writes.pcie().write_slot();
  write_slot.finish(writes.writer.last_end());
  EXPECT_GT(writes.blocked_ps(write_slot, "pcie.address_translation"),
            0.9 * static_cast<double>(writes.writer.last_end()));
}

/// A relaxed write does not wait for the translation of another one; a strict one does.
TEST(AddressTranslation, RelaxedWritesPassOneThatWaits) {
  PcieConfig config;
  config.address_translation.entries = 64;
  config.address_translation.miss_ns = 2000;
  Bench bench("bench", config, {}, {});
  struct Sink : WriteClient {
    void write_left(std::uint64_t cookie, TimePs, TimePs) override { order.push_back(cookie); }
    std::vector<std::uint64_t> order;
  } sink;
  PcieDma& pcie = bench.pcie();
  pcie.translate_ahead(0, 0x10000, 256);
  struct Later : Box {
    Later(WheelModule& owner, PcieDma& target, WriteClient& client) : Box("later", owner), pcie(target), sink(client) {}
    void step(TimePs now) override {
      pcie.write(now, now, 0x90000, 256, sink, 1, WriteOrder::relaxed);  // misses
      pcie.write(now, now, 0x10000, 256, sink, 2, WriteOrder::relaxed);  // is there, passes
      pcie.write(now, now, 0x10000, 64, sink, 3, WriteOrder::strict);    // a CQE stays behind both
    }
    PcieDma& pcie;
    WriteClient& sink;
  } later(pcie.owner(), pcie, sink);
  later.wake_at(5'000'000);
  pcie_bench::run();
  EXPECT_EQ(sink.order, (std::vector<std::uint64_t>{2, 1, 3}));
}

class CompletionFaults : public testing::TestWithParam<PcieStepping> {};

TEST_P(CompletionFaults, EachReadIsDeliveredOnce) {
  PcieConfig config;
  config.stepping = GetParam();
  config.duplicate_completion_rate = 0.02;
  PcieConfig one_tag = config;
  one_tag.read_tags = 1;
  one_tag.duplicate_completion_rate = 0.5;
  PcieConfig poisoned = config;
  poisoned.poisoned_completion_rate = 0.01;
  PcieConfig lost = poisoned;
  lost.lost_completion_rate = 0.002;
  lost.completion_timeout_us = 20;
  Bench duplicates("duplicates", config, {4096, 64, 4000}, {});
  Bench tight("one_tag", one_tag, {4096, 64, 50}, {});
  Bench poison("poison", poisoned, {4096, 64, 4000}, {});
  Bench loss("loss", lost, {4096, 64, 4000}, {});
  pcie_bench::run();
  // The reader itself fails on a read that is reported twice, never, or out of order.
  for (Bench* bench : {&duplicates, &poison, &loss}) EXPECT_EQ(bench->reader.done(), 4000u);
  EXPECT_EQ(tight.reader.done(), 50u);
  const PcieCounts d = duplicates.pcie().counts();
  EXPECT_GT(d.duplicated_completions, 1000u);
  EXPECT_EQ(d.unexpected_completions, d.duplicated_completions);
  EXPECT_EQ(d.retried_requests, 0u);
  EXPECT_EQ(tight.pcie().counts().unexpected_completions, tight.pcie().counts().duplicated_completions);
  const PcieCounts p = poison.pcie().counts();
  EXPECT_GT(p.retried_requests, 500u);
  EXPECT_EQ(p.completion_timeouts, 0u);
  EXPECT_EQ(p.read_requests, 4000 * 9 + p.retried_requests);
  const PcieCounts l = loss.pcie().counts();
  EXPECT_GT(l.completion_timeouts, 100u);
  EXPECT_GE(l.retried_requests, l.completion_timeouts);
  // All buffers are empty again.
  for (Bench* bench : {&duplicates, &tight, &poison, &loss}) {
    EXPECT_EQ(bench->pcie().completion_buffer().level(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Stepped, CompletionFaults, testing::Values(PcieStepping::train, PcieStepping::tlp),
                         [](const auto& test) { return test.param == PcieStepping::train ? "InTrains" : "TlpByTlp"; });

TEST(LatencyDistribution, HasTheMeanAndTheP99ThatItWasGiven) {
  const LatencyDistribution distribution(1000.0, 1600.0);
  KeyedRandom random(7, "latency");
  std::vector<TimePs> draws(200'000);
  double sum = 0;
  for (TimePs& draw : draws) sum += static_cast<double>(draw = distribution.draw(random));
  std::sort(draws.begin(), draws.end());
  EXPECT_NEAR(sum / static_cast<double>(draws.size()), 1'000'000.0, 3000.0);
  EXPECT_NEAR(static_cast<double>(draws[draws.size() * 99 / 100]), 1'600'000.0, 16'000.0);
}

TEST(LatencyDistribution, DrawsFromAMeasuredHistogram) {
  PcieConfig pcie;
  const std::string path = testing::TempDir() + "latency_distribution_test.csv";
  std::ofstream(path) << "ns,count\n2000,10\n500,90\r\n900,0\n";
  pcie.read_latency_histogram = path;
  read_latency_times(pcie);
  EXPECT_DOUBLE_EQ(pcie.read_latency_mean_ns, 650);
  EXPECT_DOUBLE_EQ(pcie.read_latency_p99_ns, 2000);
  EXPECT_DOUBLE_EQ(shortest_read_ns(pcie), 500);
  const LatencyDistribution distribution(pcie);
  KeyedRandom random(7, "latency");
  int slow = 0;
  for (int i = 0; i < 100'000; ++i) {
    const TimePs drawn = distribution.draw(random);
    ASSERT_TRUE(drawn == 500'000 || drawn == 2'000'000) << drawn;
    slow += drawn == 2'000'000;
  }
  EXPECT_NEAR(slow, 10'000, 400);
}

TEST(LatencyHistogram, WhatIsNoHistogramIsRefusedWithItsLine) {
  const std::string path = testing::TempDir() + "latency_histogram_test.csv";
  const auto refusal = [&](const char* text) {
    std::ofstream(path) << text;
    try {
      const LatencyHistogram histogram(path);
    } catch (const ParameterError& error) {
      return std::string(error.what()).substr(path.size());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("ns;count\n"), ":1: the first line of a histogram is ns,count");
  EXPECT_EQ(refusal("ns,count\n1000\n"), ":2: 1000: expected a time of 1 to 1000000 ns and a count");
  EXPECT_EQ(refusal("ns,count\n1000,1\nnan,1\n"), ":3: nan,1: expected a time of 1 to 1000000 ns and a count");
  EXPECT_EQ(refusal("ns,count\n0.5,1\n"), ":2: 0.5,1: expected a time of 1 to 1000000 ns and a count");
  EXPECT_EQ(refusal("ns,count\n500,-1\n"), ":2: 500,-1: expected a time of 1 to 1000000 ns and a count");
  EXPECT_EQ(refusal("ns,count\n500,0\n"), ": a histogram without a measurement");
  EXPECT_EQ(refusal("ns,count\n500,1\n"), "accepted");
}

}  // namespace
}  // namespace mrc
