// Trains against their oracle: the same load on a PcieDma that steps in trains and on one that steps TLP by TLP gives
// the same rates and the same times of each read within 0.5 %, above all where something is scarce.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <functional>
#include <ostream>

#include "pcie_bench.h"

namespace mrc {
namespace {

using pcie_bench::Bench;
using pcie_bench::Load;

struct Case {
  const char* name;
  std::function<void(PcieConfig&)> set;
  Load reads;
  Load writes;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }
};

class Stepping : public testing::TestWithParam<Case> {};

TEST_P(Stepping, TrainsAgreeWithTlps) {
  const Case& c = GetParam();
  PcieConfig config;
  if (c.set) c.set(config);
  // Reads that fill the completion buffer come in bursts whose phase any nanosecond shifts. Both ways, what is compared
  // is therefore where it does not bind; one way it may.
  const bool both_ways = c.reads.count > 0 && c.writes.count > 0;
  if (both_ways || config.poisoned_completion_rate > 0) config.completion_buffer_bytes = 4 << 20;
  Bench train("train", config, c.reads, c.writes);
  config.stepping = PcieStepping::tlp;
  Bench tlp("tlp", config, c.reads, c.writes);
  pcie_bench::run();
  constexpr double tolerance = 0.005;
  if (c.reads.count > 0) {
    fmt::print("{:<28} reads  {:8.3f} Gb/s in trains, {:8.3f} by TLP; mean {:8.1f} and {:8.1f} ns\n", c.name,
               train.reader.gbps(), tlp.reader.gbps(), train.reader.mean_ns(), tlp.reader.mean_ns());
    EXPECT_NEAR(train.reader.gbps() / tlp.reader.gbps(), 1.0, tolerance);
    // A train knows of poison when it looks at the answer, up to the line's backlog before the last byte has come.
    if (config.poisoned_completion_rate == 0) {
      EXPECT_NEAR(train.reader.mean_ns() / tlp.reader.mean_ns(), 1.0, tolerance);
    }
  }
  if (c.writes.count > 0) {
    fmt::print("{:<28} writes {:8.3f} Gb/s in trains, {:8.3f} by TLP\n", c.name, train.writer.gbps(),
               tlp.writer.gbps());
    EXPECT_NEAR(train.writer.gbps() / tlp.writer.gbps(), 1.0, tolerance);
  }
  EXPECT_EQ(train.pcie().counts().write_tlps, tlp.pcie().counts().write_tlps);
}

constexpr int kCount = 6000;
const Load kReads{4096, 0, kCount};
const Load kReadsOff{4096, 64, kCount};
const Load kWrites{4096, 0, kCount};
const Load kNone{};

INSTANTIATE_TEST_SUITE_P(
    Of, Stepping,
    testing::Values(
        Case{"Reads", {}, kReads, kNone}, Case{"ReadsOffTheAlignment", {}, kReadsOff, kNone},
        Case{"Writes", {}, kNone, kWrites}, Case{"BothWays", {}, kReads, kWrites},
        Case{"SmallReads", {}, Load{64, 0, 20'000}, kNone}, Case{"SmallWrites", {}, kNone, Load{64, 0, 20'000}},
        Case{"PostedHeaders8", [](PcieConfig& c) { c.posted_header_credits = 8; }, kNone, kWrites},
        Case{"PostedHeaders16", [](PcieConfig& c) { c.posted_header_credits = 16; }, kNone, kWrites},
        Case{"PostedHeaders32", [](PcieConfig& c) { c.posted_header_credits = 32; }, kNone, kWrites},
        Case{"PostedHeaders1", [](PcieConfig& c) { c.posted_header_credits = 1; }, kNone, Load{4096, 0, 500}},
        Case{"PostedDataOneTlp", [](PcieConfig& c) { c.posted_data_credits = 16; }, kNone, Load{4096, 0, 500}},
        Case{"PostedData40", [](PcieConfig& c) { c.posted_data_credits = 40; }, kNone, Load{4000, 36, 1000}},
        Case{"PostedHeaders8BothWays", [](PcieConfig& c) { c.posted_header_credits = 8; }, kReads, kWrites},
        Case{"PostedHeaders24BothWaysIdo",
             [](PcieConfig& c) {
               c.posted_header_credits = 24;
               c.id_based_ordering = true;
             },
             kReads, kWrites},
        Case{"BothWaysIdo", [](PcieConfig& c) { c.id_based_ordering = true; }, kReads, kWrites},
        Case{"NonPosted8", [](PcieConfig& c) { c.non_posted_header_credits = 8; }, kReads, kNone},
        Case{"NonPosted16BothWays", [](PcieConfig& c) { c.non_posted_header_credits = 16; }, kReads, kWrites},
        Case{"Tags8", [](PcieConfig& c) { c.read_tags = 8; }, Load{4096, 0, 2000}, kNone},
        Case{"Tags32BothWays", [](PcieConfig& c) { c.read_tags = 32; }, kReads, kWrites},
        Case{"Tags128LongLatency",
             [](PcieConfig& c) {
               c.read_tags = 128;
               c.read_latency_mean_ns = 5000;
               c.read_latency_p99_ns = 12'000;
             },
             kReadsOff, kNone},
        Case{"CompletionBuffer8KiB", [](PcieConfig& c) { c.completion_buffer_bytes = 8192; }, Load{4096, 0, 2000},
             kNone},
        Case{"CompletionHeaders16", [](PcieConfig& c) { c.completion_header_credits = 16; }, kReads, kNone},
        Case{"CompletionData48", [](PcieConfig& c) { c.completion_data_credits = 48; }, kReadsOff, kNone},
        Case{"InOrder", [](PcieConfig& c) { c.completion_order = CompletionOrder::in_order; }, kReads, kNone},
        Case{"Rcb", [](PcieConfig& c) { c.completion_split = CompletionSplit::rcb; }, kReadsOff, kNone},
        Case{"Mrrs4096", [](PcieConfig& c) { c.mrrs_bytes = 4096; }, kReadsOff, kWrites},
        Case{"Gen3x8",
             [](PcieConfig& c) {
               c.generation = 3;
               c.lanes = 8;
               c.read_tags = 64;
             },
             kReads, kWrites},
        Case{"Translation",
             [](PcieConfig& c) {
               c.address_translation.entries = 32;
               c.address_translation.outstanding_misses = 4;
             },
             kReads, Load{4096, 0, 1000}},
        Case{"Duplicates", [](PcieConfig& c) { c.duplicate_completion_rate = 0.05; }, kReads, kNone},
        Case{"Poison", [](PcieConfig& c) { c.poisoned_completion_rate = 0.01; }, kReads, kNone},
        Case{"Loss",
             [](PcieConfig& c) {
               c.lost_completion_rate = 0.001;
               c.completion_timeout_us = 20;
             },
             kReads, kNone}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace mrc
