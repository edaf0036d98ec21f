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

/// RTL in a bench. To be made before the kernel starts.
struct Use {
  Use(Bench& bench, RtlMode mode, std::unique_ptr<PcieDmaEngine> engine) : path(mode, std::move(engine), 7, 1000) {
    bench.pcie().use_rtl(&path);
  }
  PcieDmaRtlPath path;
};

struct Case {
  const char* name;
  RtlMode mode;
  PcieStepping stepping;
  bool small;
  bool faults;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }
};

class PcieDmaInTheBox : public testing::TestWithParam<Case> {};

TEST_P(PcieDmaInTheBox, RunsAsSystemCAlone) {
  const Case& c = GetParam();
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
  const int count = c.faults ? 500 : 3000;
  const Load reads{4096, 1000, count};
  const Load writes{4096, 64, count};
  Bench plain("plain", node.pcie, reads, writes);
  Bench rtl("rtl", node.pcie, reads, writes);
  const Use used(rtl, c.mode,
                 c.small ? make_small_pcie_dma(node.pcie.mrrs_bytes, node.pcie.mps_bytes) : make_pcie_dma_rtl(node));
  pcie_bench::run();
  EXPECT_EQ(used.path.mismatches(), 0U) << used.path.first_mismatch();
  EXPECT_EQ(rtl.reader.done(), static_cast<std::uint64_t>(count));
  EXPECT_EQ(rtl.reader.last_done, plain.reader.last_done);
  EXPECT_EQ(rtl.writer.last_end(), plain.writer.last_end());
  EXPECT_EQ(rtl.pcie().counts().read_requests, plain.pcie().counts().read_requests);
  EXPECT_EQ(rtl.pcie().counts().retried_requests, plain.pcie().counts().retried_requests);
  if (c.faults) {
    EXPECT_GT(rtl.pcie().counts().unexpected_completions, 0U);
  }
  RecordProperty("cycles_a_read_and_write", static_cast<int>(used.path.cycles() / static_cast<std::uint64_t>(count)));
  if (!c.faults && !c.small) {
    EXPECT_LT(used.path.cycles() / static_cast<std::uint64_t>(count), 60U);
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
  Bench rtl("rtl", config, reads, {});
  Bench shadow("shadow", config, reads, {});
  const auto bug = [&] { return make_pcie_dma_with_block_of_2k(4096, 256); };
  const Use driving(rtl, RtlMode::rtl, bug());
  const Use beside(shadow, RtlMode::shadow, bug());
  pcie_bench::run();
  EXPECT_EQ(shadow.reader.last_done, plain.reader.last_done);
  EXPECT_NE(rtl.pcie().counts().read_requests, plain.pcie().counts().read_requests);
  for (const Use* use : {&driving, &beside}) {
    const PcieDmaRtlPath& path = use->path;
    EXPECT_GT(path.mismatches(), 0U);
    EXPECT_NE(path.first_mismatch().find("request.bytes: expected 0x448, RTL gave 0xbb8"), std::string::npos)
        << path.first_mismatch();
  }
}
#endif

}  // namespace
}  // namespace mrc
