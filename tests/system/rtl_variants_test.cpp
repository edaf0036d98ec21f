// Each block as somebody else would write it (tests/unit/own_rtl): other names, a deeper pipeline, and in one of two a
// bug. Every command passes what is right and finds the bug. And each block with pauses, which is right and too slow.
#include <gtest/gtest.h>

#include <string>

#include "mrcsim_process.h"

namespace mrc {
namespace {

std::string executable(const std::string& name) {
  return std::string(MRCSIM_OWN_RTL_BIN) + "/" + name;
}

/// Packets arrive out of order and are retransmitted, completions are poisoned; for qp_scheduler, QPs come back whose
/// contexts have left the NIC.
std::string scenario_of(const std::string& block) {
  if (block != "qp_scheduler") {
    return "tb/scenarios/pair.toml --set traffic.rows=8 fabric.loss_rate=0.005 fabric.trim_rate=0.005 "
           "pcie.poisoned_completion_rate=0.01 ";
  }
  EXPECT_EQ(run_process("mrcsim trace generate flows --count 2600 --bytes 4096 --out %D/flows.csv").exit_code, 0);
  return "tb/scenarios/many_qps.toml --set traffic.trace=%D/flows.csv traffic.byte_scale=1 traffic.qps_per_peer=1500 "
         "traffic.outstanding_messages=1024 ";
}

class EachBlock : public ::testing::TestWithParam<std::string> {
 protected:
  std::string deep() const { return executable("mrcsim_deep_" + GetParam()); }
  std::string bug() const { return deep() + "_bug"; }
  std::string line(const std::string& top) const { return "RTL: " + GetParam() + ", top " + top + ", "; }
};

TEST_P(EachBlock, DeeperPassesCosimAndItsBugIsFound) {
  const std::string command = " cosim " + GetParam() + " --count 100000 --out %D/cosim";
  const ProcessResult good = run_process(deep() + command);
  EXPECT_EQ(good.exit_code, 0) << good.err << good.out;
  EXPECT_NE(good.out.find(line("deep_" + GetParam())), std::string::npos) << good.out;
  const ProcessResult wrong = run_process(bug() + command);
  EXPECT_EQ(wrong.exit_code, 4) << wrong.err << wrong.out;
  EXPECT_NE(wrong.err.find("mrcsim: mismatch: "), std::string::npos) << wrong.err;
}

TEST_P(EachBlock, DeeperPassesInARunAndItsBugEndsIt) {
  const std::string command = " run " + scenario_of(GetParam()) + "--out %D/out ";
  for (const std::string& mode :
       {"--rtl " + GetParam(), "--rtl " + GetParam() + " --rtl-timing pins", "--shadow " + GetParam()}) {
    const ProcessResult good = run_process(deep() + command + mode);
    EXPECT_EQ(good.exit_code, 0) << mode << good.err;
    EXPECT_NE(good.out.find(line("deep_" + GetParam())), std::string::npos) << good.out;
    if (good.exit_code != 0) continue;
    std::uint64_t operations = 0;
    const auto result = read_json(test_folder() / "out" / "result.json");
    for (const auto& rtl : result["rtl"]) {
      EXPECT_EQ(rtl["mismatches"], 0) << mode;
      operations += rtl["transactions"].get<std::uint64_t>();
    }
    EXPECT_GT(operations, 0) << mode;
    const ProcessResult wrong = run_process(bug() + command + mode);
    EXPECT_EQ(wrong.exit_code, 4) << mode << wrong.err << wrong.out;
    EXPECT_NE(wrong.err.find("mrcsim: mismatch: "), std::string::npos) << mode << wrong.err;
  }
}

TEST_P(EachBlock, DeeperPassesTheTransfersOfARunAndItsBugIsFound) {
  const std::string command =
      " cosim " + GetParam() + " --vectors trace --size default --out %D/cosim --scenario " + scenario_of(GetParam());
  const ProcessResult good = run_process(deep() + command);
  EXPECT_EQ(good.exit_code, 0) << good.err << good.out;
  const ProcessResult wrong = run_process(bug() + command);
  EXPECT_EQ(wrong.exit_code, 4) << wrong.err << wrong.out;
}

TEST_P(EachBlock, DeeperIsCalibratedWithItsOwnCycles) {
  const ProcessResult run =
      run_process(deep() + " calibrate " + GetParam() + " --size small --count 2000 --out %D/c.md");
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 4) << run.err;
  EXPECT_TRUE(run.err.empty() || run.err.find("in the model differ from the RTL") != std::string::npos) << run.err;
  EXPECT_NE(run.out.find("Verdict: "), std::string::npos) << run.out;
}

TEST_P(EachBlock, PausesAreNamedByCosimAndCalibrate) {
  const std::string mrcsim = executable("mrcsim_pauses");
  const ProcessResult cosim = run_process(mrcsim + " cosim " + GetParam() + " --count 20000 --out %D/cosim");
  EXPECT_EQ(cosim.exit_code, 4) << cosim.err << cosim.out;
  EXPECT_NE(cosim.err.find("mrcsim: mismatch: "), std::string::npos) << cosim.err;
  const ProcessResult calibrate =
      run_process(mrcsim + " calibrate " + GetParam() + " --size small --count 2000 --out %D/c.md");
  EXPECT_EQ(calibrate.exit_code, 4) << calibrate.err << calibrate.out;
  EXPECT_NE(calibrate.err.find("mrcsim: mismatch: "), std::string::npos) << calibrate.err;
}

INSTANTIATE_TEST_SUITE_P(Of, EachBlock,
                         ::testing::Values("pcie_dma", "qp_scheduler", "spray_scheduler", "retransmit_buffer",
                                           "srv6_encap", "psn_tracker", "ack_coalescer"),
                         [](const auto& block) { return block.param; });

}  // namespace
}  // namespace mrc
