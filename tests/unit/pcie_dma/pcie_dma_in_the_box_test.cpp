// The RTL in the place of, or beside, what the SystemC box decides: same requests, same reports, same times; and with a
// kept bug in its place another run.
#include <gtest/gtest.h>

#include <ostream>

#include "../models/pcie_bench.h"
#include "cosim/pcie_dma/rtl.h"
#ifdef MRCSIM_WITH_BUGS
#include "pcie_dma_bug_engine.h"
#include "pcie_dma_small_engine.h"
#endif

namespace mrc {
namespace {

using pcie_bench::Bench;
using pcie_bench::Load;

PcieDmaRtlPath rtl_path(RtlMode mode, std::unique_ptr<PcieDmaEngine> engine,
                        RtlTiming timing = RtlTiming::transaction) {
  return PcieDmaRtlPath(mode, std::move(engine), 7, 1000, timing);
}

struct Case {
  const char* name;
  RtlMode mode;
  PcieStepping stepping;
  bool small;
  bool faults;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }
};

NodeConfig node_of(const Case& c) {
  NodeConfig node;
  node.pcie.stepping = c.stepping;
  if (c.small) {
    node.pcie.read_tags = 8;
    node.pcie.completion_buffer_bytes = 8192;
  }
  if (c.faults) {
    node.pcie.duplicate_completion_rate = 0.02;
    node.pcie.poisoned_completion_rate = 0.02;
    node.pcie.lost_completion_rate = 0.01;
    node.pcie.completion_timeout_us = 10;
  }
  return node;
}

std::unique_ptr<PcieDmaEngine> engine_of(const Case& c, const NodeConfig& node) {
  return c.small ? make_small_pcie_dma(node.pcie.mrrs_bytes, node.pcie.mps_bytes) : make_pcie_dma_rtl(node);
}

class PcieDmaInTheBox : public testing::TestWithParam<Case> {};

TEST_P(PcieDmaInTheBox, RunsAsSystemCAlone) {
  const Case& c = GetParam();
  const NodeConfig node = node_of(c);
  const int count = c.faults ? 500 : 3000;
  const Load reads{4096, 1000, count};
  const Load writes{4096, 64, count};
  Bench plain("plain", node.pcie, reads, writes);
  PcieDmaRtlPath path = rtl_path(c.mode, engine_of(c, node));
  Bench rtl("rtl", node.pcie, reads, writes, &path);
  pcie_bench::run();
  EXPECT_EQ(path.mismatches(), 0U) << path.first_mismatch();
  EXPECT_EQ(rtl.reader.done(), static_cast<std::uint64_t>(count));
  EXPECT_EQ(rtl.reader.last_done, plain.reader.last_done);
  EXPECT_EQ(rtl.writer.last_end(), plain.writer.last_end());
  EXPECT_EQ(rtl.pcie().counts().read_requests, plain.pcie().counts().read_requests);
  EXPECT_EQ(rtl.pcie().counts().retried_requests, plain.pcie().counts().retried_requests);
  if (c.faults) {
    EXPECT_GT(rtl.pcie().counts().unexpected_completions, 0U);
  }
  RecordProperty("cycles_a_read_and_write", static_cast<int>(path.cycles() / static_cast<std::uint64_t>(count)));
  if (!c.faults && !c.small) {
    EXPECT_LT(path.cycles() / static_cast<std::uint64_t>(count), 60U);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PcieDmaInTheBox,
                         testing::Values(Case{"RtlTrains", RtlMode::rtl, PcieStepping::train, false, false},
                                         Case{"RtlTlps", RtlMode::rtl, PcieStepping::tlp, false, false},
                                         Case{"ShadowTrains", RtlMode::shadow, PcieStepping::train, false, false},
                                         Case{"RtlTrainsSmall", RtlMode::rtl, PcieStepping::train, true, false},
                                         Case{"RtlTrainsFaults", RtlMode::rtl, PcieStepping::train, false, true},
                                         Case{"RtlTlpsFaults", RtlMode::rtl, PcieStepping::tlp, false, true},
                                         Case{"ShadowTlpsFaults", RtlMode::shadow, PcieStepping::tlp, false, true}),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

class PcieDmaByPins : public testing::TestWithParam<Case> {};

TEST_P(PcieDmaByPins, DoesAsMuchAsSystemCWithoutAMismatch) {
  const Case& c = GetParam();
  const NodeConfig node = node_of(c);
  const int count = c.faults ? 500 : 3000;
  const Load reads{4096, 1000, count};
  const Load writes{4096, 64, count};
  Bench plain("plain", node.pcie, reads, writes);
  PcieDmaRtlPath path = rtl_path(RtlMode::rtl, engine_of(c, node), RtlTiming::pins);
  Bench rtl("rtl", node.pcie, reads, writes, &path);
  pcie_bench::run();
  EXPECT_EQ(path.mismatches(), 0U) << path.first_mismatch();
  EXPECT_EQ(rtl.reader.done(), static_cast<std::uint64_t>(count));
  const PcieCounts counts = rtl.pcie().counts();
  EXPECT_EQ(counts.write_tlps, plain.pcie().counts().write_tlps);
  EXPECT_GE(path.transactions(), counts.read_requests + counts.write_tlps);
  EXPECT_EQ(rtl.pcie().completion_buffer().level(), plain.pcie().completion_buffer().level());
  const auto ratio = [](TimePs by_pins, TimePs systemc) {
    return static_cast<double>(by_pins) / static_cast<double>(systemc);
  };
  // Which completion is lost depends on their order.
  if (!c.faults) {
    EXPECT_EQ(counts.read_requests, plain.pcie().counts().read_requests);
    EXPECT_NEAR(ratio(rtl.reader.last_done, plain.reader.last_done), 1, 0.01);
  } else {
    EXPECT_GT(counts.retried_requests, 0U);
    EXPECT_GT(counts.unexpected_completions, 0U);
    EXPECT_GT(counts.completion_timeouts, 0U);
  }
  EXPECT_NEAR(ratio(rtl.writer.last_end(), plain.writer.last_end()), 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Of, PcieDmaByPins,
                         testing::Values(Case{"Default", RtlMode::rtl, PcieStepping::tlp, false, false},
                                         Case{"Small", RtlMode::rtl, PcieStepping::tlp, true, false},
                                         Case{"Faults", RtlMode::rtl, PcieStepping::tlp, false, true},
                                         Case{"SmallFaults", RtlMode::rtl, PcieStepping::tlp, true, true}),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

TEST(PcieDmaRefused, SizesThatAreNotBuilt) {
  NodeConfig node;
  node.pcie.read_tags = 256;
  try {
    make_pcie_dma_rtl(node);
    FAIL() << "256 tags are not built";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "pcie.read_tags = 256: RTL of pcie_dma is built for 512");
  }
}

#ifdef MRCSIM_WITH_BUGS
TEST(PcieDmaDrives, AWrongSplitChangesTheRunInRtlModeOnly) {
  PcieConfig config;
  config.read_tags = 8;
  config.completion_buffer_bytes = 8192;
  config.mrrs_bytes = 4096;
  const Load reads{3000, 3000, 200};
  Bench plain("plain", config, reads, {});
  const auto bug = [&] { return make_pcie_dma_with_block_of_2k(4096, 256); };
  PcieDmaRtlPath driving = rtl_path(RtlMode::rtl, bug());
  PcieDmaRtlPath beside = rtl_path(RtlMode::shadow, bug());
  Bench rtl("rtl", config, reads, {}, &driving);
  Bench shadow("shadow", config, reads, {}, &beside);
  pcie_bench::run();
  EXPECT_EQ(shadow.reader.last_done, plain.reader.last_done);
  EXPECT_NE(rtl.pcie().counts().read_requests, plain.pcie().counts().read_requests);
  for (const PcieDmaRtlPath* path : {&driving, &beside}) {
    EXPECT_GT(path->mismatches(), 0U);
    EXPECT_NE(path->first_mismatch().find("request.bytes: expected 0x448, RTL gave 0xbb8"), std::string::npos)
        << path->first_mismatch();
  }
}

TEST(PcieDmaByPinsDrives, AWrongSplitEndsTheRun) {
  PcieConfig config;
  config.read_tags = 8;
  config.completion_buffer_bytes = 8192;
  config.mrrs_bytes = 4096;
  PcieDmaRtlPath path = rtl_path(RtlMode::rtl, make_pcie_dma_with_block_of_2k(4096, 256), RtlTiming::pins);
  Bench rtl("rtl", config, {3000, 3000, 200}, {}, &path);
  pcie_bench::run();
  EXPECT_EQ(path.mismatches(), 1U);
  EXPECT_NE(path.first_mismatch().find("request.bytes: expected 0x448, RTL gave 0xbb8"), std::string::npos)
      << path.first_mismatch();
  EXPECT_LT(rtl.reader.done(), 200U);
}
#endif

}  // namespace
}  // namespace mrc
