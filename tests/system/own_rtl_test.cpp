// A user's RTL in the place of ours (tests/unit/own_rtl): every command tests it and says which it is; what is right
// passes, and what is wrong is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "mrcsim_process.h"

namespace mrc {
namespace {

std::string executable(const std::string& name) {
  return std::string(MRCSIM_OWN_RTL_BIN) + "/" + name;
}

constexpr const char* kRun = " run tb/scenarios/pair.toml --set traffic.rows=8 --out %D/out ";

/// What follows "sha256 " in the line that names the RTL.
std::string hash_in(const std::string& text) {
  const std::size_t at = text.find("sha256 ");
  return at == std::string::npos ? "" : text.substr(at + 7, 12);
}

class Variant : public ::testing::Test {
 protected:
  static std::string block() { return "srv6_encap"; }
  std::string line() const { return "RTL: " + block() + ", top deep_" + block() + ", "; }
};

TEST_F(Variant, WithOtherNamesAndADeeperPipelinePasses) {
  const std::string mrcsim = executable("mrcsim_deep_" + block());
  const ProcessResult cosim = run_process(mrcsim + " cosim " + block() + " --count 20000 --out %D/cosim");
  EXPECT_EQ(cosim.exit_code, 0) << cosim.err << cosim.out;
  EXPECT_NE(cosim.out.find(line()), std::string::npos) << cosim.out;
  const auto report = read_json(test_folder() / "cosim" / "cosim.json");
  EXPECT_EQ(report["rtl"]["top"], "deep_" + block());
  EXPECT_EQ(report["rtl"]["sha256"].get<std::string>().substr(0, 12), hash_in(cosim.out));
}

TEST_F(Variant, WithABugIsShownOnBothSidesWithHowToRepeatIt) {
  const std::string mrcsim = executable("mrcsim_deep_" + block() + "_bug");
  const ProcessResult cosim = run_process(mrcsim + " cosim " + block() + " --count 20000 --seed 7 --out %D/cosim");
  ASSERT_EQ(cosim.exit_code, 4) << cosim.err << cosim.out;
  const auto mismatch = read_json(test_folder() / "cosim" / "cosim.json")["mismatch"];
  const std::string folder = (test_folder() / "cosim").string();
  const std::string number = std::to_string(mismatch["transfer"].get<int>());
  EXPECT_GT(mismatch["transfer"], 0);
  const std::vector<std::string> parts{
      ", transfer " + number + ": ",
      "seed 7\n",
      "    input: transfer " + number + " of the run, port in\n",
      std::string("        field              reference            RTL\n"),
      std::string("      > data["),
      "replay     " + folder + "/mismatch.replay, which has ",
      "repeat     " + mrcsim + " cosim " + block() + " --size small --replay " + folder +
          "/mismatch.replay --waves --out " + folder + "\n",
      "whole run  " + mrcsim + " cosim " + block() + " --size small --seed 7 --count 20000 --out ",
      "waves      " + folder + "/mismatch.fst, of the replay\n"};
  for (const std::string& part : parts) {
    EXPECT_NE(cosim.out.find(part), std::string::npos) << part << "\n" << cosim.out;
  }
  EXPECT_EQ(cosim.out.find("not hit"), std::string::npos) << "coverage of a run that ended early";
  EXPECT_EQ(mismatch["waves_file"], folder + "/mismatch.fst");
  EXPECT_GT(std::filesystem::file_size(test_folder() / "cosim" / "mismatch.fst"), 0U);
  // The command that is printed.
  const std::size_t at = cosim.out.find("repeat     ") + 11;
  const ProcessResult again = run_process(cosim.out.substr(at, cosim.out.find('\n', at) - at));
  EXPECT_EQ(again.exit_code, 4) << again.err;
  EXPECT_NE(again.out.find("waves      " + folder + "/replay.fst\n"), std::string::npos) << again.out;
  EXPECT_GT(std::filesystem::file_size(test_folder() / "cosim" / "replay.fst"), 0U);
}

TEST_F(Variant, CalibrateSaysWhatToSetForADeeperPipeline) {
  const ProcessResult run = run_process(executable("mrcsim_deep_" + block()) + " calibrate " + block() +
                                        " --size small --count 2000 --out %D/calibration.md");
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_TRUE(run.out.ends_with("Verdict: differ: at 8 of 8 points of " + block() +
                                " the model is outside the limits; to set: nic." + block() + ".latency_cycles=4\n"))
      << run.out;
}

TEST_F(Variant, UnderALimitOnFileSizesNothingIsLeft) {
  const std::string mrcsim = executable("mrcsim_deep_" + block() + "_bug");
  const std::string command = mrcsim + " cosim " + block() + " --count 20000 --keep-vectors %D/vectors --out %D/cosim";
  ASSERT_EQ(run_process(command).exit_code, 4);
  // In blocks of 512 bytes: the replay, the waves, the results and the coverage.
  for (const char* file : {"mismatch.replay", "mismatch.fst", "cosim.json", "coverage.dat"}) {
    const auto blocks = std::filesystem::file_size(test_folder() / "cosim" / file) / 512;
    if (blocks < 2) continue;
    const ProcessResult cut = run_process("ulimit -f " + std::to_string(blocks - 1) + "; " + command + "2");
    EXPECT_EQ(cut.exit_code, 2) << file << cut.err;
    EXPECT_NE(cut.err.find("cosim2/"), std::string::npos) << cut.err;
    EXPECT_EQ(cut.err.find(".tmp"), std::string::npos) << cut.err;
    EXPECT_NE(cut.err.find("cannot be written whole"), std::string::npos) << cut.err;
    EXPECT_EQ(std::count(cut.err.begin(), cut.err.end(), '\n'), 1) << cut.err;
    EXPECT_FALSE(std::filesystem::exists(test_folder() / "cosim2")) << file;
  }
}

TEST_F(Variant, WithABugIsFound) {
  const std::string mrcsim = executable("mrcsim_deep_" + block() + "_bug");
  const ProcessResult cosim = run_process(mrcsim + " cosim " + block() + " --count 20000 --out %D/cosim");
  EXPECT_EQ(cosim.exit_code, 4) << cosim.err << cosim.out;
  EXPECT_NE(cosim.out.find(line()), std::string::npos) << cosim.out;
  const ProcessResult good =
      run_process(executable("mrcsim_deep_" + block()) + " cosim " + block() + " --count 1 --out %D/good");
  EXPECT_NE(hash_in(cosim.out), hash_in(good.out));
}

TEST_F(Variant, WithoutABugPassesARunAndWithOneEndsIt) {
  for (const std::string mode : {"--shadow ", "--rtl "}) {
    const ProcessResult run = run_process(executable("mrcsim_deep_" + block()) + kRun + mode + block());
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find(line()), std::string::npos) << run.out;
    const auto result = read_json(test_folder() / "out" / "result.json");
    EXPECT_EQ(result["rtl"][0]["mismatches"], 0);
    ASSERT_EQ(result["rtl_sources"].size(), 1);
    EXPECT_EQ(result["rtl_sources"][0]["top"], "deep_" + block());
    EXPECT_EQ(result["rtl_sources"][0]["sha256"].get<std::string>().substr(0, 12), hash_in(run.out));
    const ProcessResult bug = run_process(executable("mrcsim_deep_" + block() + "_bug") + kRun + mode + block());
    EXPECT_EQ(bug.exit_code, 4) << bug.err;
  }
}

class Constant : public ::testing::TestWithParam<std::string> {};

TEST_P(Constant, FailsEveryCommand) {
  const std::string mrcsim = executable("mrcsim_constants");
  const std::string line = "RTL: " + GetParam() + ", top constant_" + GetParam() + ", ";
  for (const std::string& command : {" cosim " + GetParam() + " --count 2000 --out %D/cosim",
                                     " calibrate " + GetParam() + " --size small --count 200",
                                     kRun + ("--rtl " + GetParam()), kRun + ("--shadow " + GetParam())}) {
    const ProcessResult run = run_process(mrcsim + command);
    EXPECT_EQ(run.exit_code, 4) << command << run.err << run.out;
    EXPECT_NE(run.out.find(line), std::string::npos) << command << run.out;
    EXPECT_NE(run.err.find("mrcsim: mismatch: "), std::string::npos) << command << run.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Constant,
                         ::testing::Values("pcie_dma", "qp_scheduler", "spray_scheduler", "retransmit_buffer",
                                           "srv6_encap", "psn_tracker", "ack_coalescer"),
                         [](const auto& block) { return block.param; });

TEST(OwnRtl, WithoutRtlNothingIsSaidOfIt) {
  const ProcessResult run = run_process(std::string("mrcsim") + kRun);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find("RTL:"), std::string::npos);
  EXPECT_FALSE(read_json(test_folder() / "out" / "result.json").contains("rtl_sources"));
}

TEST(OwnRtl, WhatIsNotBuiltIsRefusedWithTheTargetOfTheUser) {
  const ProcessResult run =
      run_process(executable("mrcsim_constants") + " cosim srv6_encap --size default --out %D/out");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("not built: benches of srv6_encap; to build: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("mrcsim_constants_cosim_srv6_encap_default"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace mrc
