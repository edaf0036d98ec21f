// ack_coalescer by RTL in a whole run, and the commands of the RTL blocks: cosim and calibrate.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(RtlAckCoalescer, BesideAndInThePlaceOfTheBox) {
  ASSERT_EQ(run_process(std::string("mrcsim") + kLossyRun + "--out %D/systemc").exit_code, 0);
  const auto systemc = result_of("systemc");
  ASSERT_GT(systemc["packets"]["retransmitted"].get<std::uint64_t>(), 0U);
  for (const std::string mode : {"shadow", "rtl"}) {
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + "--" + mode + " psn_tracker,ack_coalescer --out %D/" + mode);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto result = result_of(mode);
    ASSERT_EQ(result["rtl"].size(), 4U);
    for (const auto& row : result["rtl"]) EXPECT_EQ(row["mismatches"], 0) << row["block"];
    const auto row = result["rtl"][3];  // of the receiver
    EXPECT_EQ(row["block"], "ack_coalescer");
    EXPECT_GT(row["transactions"], 16'384) << "every packet that is taken in";
    EXPECT_EQ(row["occupied_cycles"], row["systemc_occupied_cycles"]);
    EXPECT_EQ(row["latency_cycles"], row["systemc_latency_cycles"]);
    EXPECT_EQ(result["packets"], systemc["packets"]);
    EXPECT_EQ(result["message_time_us"], systemc["message_time_us"]);
  }
}

#ifdef MRCSIM_WITH_TRIGGER_BUG
TEST(RtlAckCoalescer, MissingSacksAreNamedAndWhenTheRtlDrivesNoneIsSent) {
  const ProcessResult shadow =
      run_process(std::string(MRCSIM_WITH_TRIGGER_BUG) + kLossyRun + "--shadow ack_coalescer@nic1 --out %D/shadow");
  EXPECT_EQ(shadow.exit_code, 4);
  EXPECT_NE(shadow.err.find("mismatch: nic1: ack_coalescer of nic1, event "), std::string::npos) << shadow.err;
  EXPECT_NE(shadow.err.find("causes: expected 0x1, RTL gave 0x0"), std::string::npos) << shadow.err;
  const ProcessResult rtl =
      run_process(std::string(MRCSIM_WITH_TRIGGER_BUG) + kLossyRun + "--rtl ack_coalescer@nic1 --out %D/rtl");
  EXPECT_EQ(rtl.exit_code, 4);
  const auto observed = result_of("shadow");
  const auto driven = result_of("rtl");
  EXPECT_LT(driven["packets"]["control"].get<double>(), observed["packets"]["control"].get<double>())
      << "the RTL alone decides when a SACK is sent";
}
#endif

TEST(CosimCommand, WritesWhatItCovered) {
  const ProcessResult run = run_process("mrcsim cosim ack_coalescer --count 40000 --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = read_json(test_folder() / "out" / "cosim.json");
  EXPECT_EQ(report["mismatches"], 0);
  EXPECT_GE(report["transactions"], 40'000);
  const auto functional = report["functional_coverage"];
  EXPECT_GE(functional["hit"].get<double>(), 0.95 * functional["bins"].get<double>()) << run.out;
  const auto lines = report["source_coverage"]["line"];
  EXPECT_GT(lines["points"], 0);
  EXPECT_GE(lines["hit"].get<double>(), 0.95 * lines["points"].get<double>()) << run.out;
}

TEST(CosimCommand, PlaysWhatARunAsks) {
  const ProcessResult run = run_process(
      "mrcsim cosim psn_tracker --size default --vectors trace --scenario tb/scenarios/ring.toml "
      "--set fabric.loss_rate=0.001 --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_GT(read_json(test_folder() / "out" / "cosim.json")["transactions"], 1'000);
  const ProcessResult records = run_process(
      "mrcsim cosim retransmit_buffer --size default --vectors trace --scenario tb/scenarios/ring.toml "
      "--set fabric.loss_rate=0.001 --out %D/records");
  ASSERT_EQ(records.exit_code, 0) << records.err << records.out;
  EXPECT_GT(read_json(test_folder() / "records" / "cosim.json")["transactions"], 1'000);
}

class TraceOfARun : public ::testing::TestWithParam<const char*> {};

TEST_P(TraceOfARun, IsPlayedToItsEnd) {
  const std::string block = GetParam();
  const ProcessResult run = run_process("mrcsim cosim " + block +
                                        " --size default --vectors trace --scenario tb/scenarios/pair.toml "
                                        "--set traffic.byte_scale=0.002 fabric.loss_rate=0.01 --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  const auto report = read_json(test_folder() / "out" / "cosim.json");
  EXPECT_GT(report["transactions"], 4'000);
  EXPECT_EQ(report["resets"], 4);
}
INSTANTIATE_TEST_SUITE_P(Of, TraceOfARun, ::testing::Values("pcie_dma", "spray_scheduler", "srv6_encap"));

TEST(CosimCommand, SaysWhatIsWrong) {
  const ProcessResult block = run_process("mrcsim cosim ack_coalescr --out %D/out");
  EXPECT_EQ(block.exit_code, 2);
  EXPECT_NE(block.err.find("cosim: no RTL block ack_coalescr; there are: "), std::string::npos) << block.err;
  EXPECT_NE(block.err.find("nearest: ack_coalescer"), std::string::npos) << block.err;
  const ProcessResult trace = run_process("mrcsim cosim psn_tracker --vectors trace --out %D/out");
  EXPECT_EQ(trace.exit_code, 2);
  EXPECT_NE(trace.err.find("--vectors trace: --scenario FILE is missing"), std::string::npos) << trace.err;
  const ProcessResult size = run_process(
      "mrcsim cosim pcie_dma --vectors trace --scenario tb/scenarios/pair.toml --set traffic.byte_scale=0.002 "
      "--out %D/out");
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_NE(size.err.find("the run's pcie_dma has 512 tags, this size 8"), std::string::npos) << size.err;
}

TEST(CosimCommand, AFolderOfOthersIsRefusedAndStaysAsItIs) {
  std::filesystem::create_directories(test_folder() / "theirs");
  std::ofstream(test_folder() / "theirs" / "coverage.dat") << "of somebody else\n";
  const ProcessResult run = run_process("mrcsim cosim ack_coalescer --count 1000 --out %D/theirs");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("/theirs: contains files that mrcsim did not write; choose another folder with --out"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(read_text(test_folder() / "theirs" / "coverage.dat"), "of somebody else\n");
  // One of an earlier cosim is used once more.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_process("mrcsim cosim ack_coalescer --count 1000 --out %D/out").exit_code, 0);
  }
  const ProcessResult vectors =
      run_process("mrcsim cosim ack_coalescer --count 1000 --out %D/out --keep-vectors %D/theirs/coverage.dat");
  EXPECT_EQ(vectors.exit_code, 2);
  EXPECT_NE(vectors.err.find("exists and is not a file of vectors that mrcsim wrote"), std::string::npos)
      << vectors.err;
  EXPECT_EQ(read_text(test_folder() / "theirs" / "coverage.dat"), "of somebody else\n");
}

TEST(CosimCommand, EndsThoughGrantsAreGivenBackForEver) {
  const ProcessResult run =
      run_process("timeout 200 " MRCSIM_EXECUTABLE " cosim qp_scheduler --count 200000 --seed 1 --out %D/out");
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(CosimCommand, CtrlCEndsItWithOneLineAndNothingWritten) {
  const std::string within = "timeout --preserve-status -s INT 2 " MRCSIM_EXECUTABLE " ";
  const ProcessResult cosim = run_process(
      within + "cosim ack_coalescer --count 1000000000 --waves --keep-vectors %D/out/vectors.txt --out %D/out");
  EXPECT_EQ(cosim.exit_code, 130) << cosim.err;
  EXPECT_TRUE(cosim.err.starts_with("mrcsim: interrupted after ")) << cosim.err;
  EXPECT_NE(cosim.err.find(" transfers; nothing was written\n"), std::string::npos) << cosim.err;
  EXPECT_FALSE(std::filesystem::exists(test_folder() / "out"));
  const ProcessResult calibrate =
      run_process(within + "calibrate ack_coalescer --count 100000000 --out %D/calibration.md");
  EXPECT_EQ(calibrate.exit_code, 130) << calibrate.err;
  EXPECT_NE(calibrate.err.find("mrcsim: interrupted; nothing was written\n"), std::string::npos) << calibrate.err;
  EXPECT_FALSE(std::filesystem::exists(test_folder() / "calibration.md"));
}

TEST(Calibration, EndsWithAVerdictInWords) {
  const ProcessResult run = run_process("mrcsim calibrate psn_tracker --count 4000 --out %D/psn_tracker.md");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::size_t last = run.out.rfind('\n', run.out.size() - 2) + 1;
  EXPECT_EQ(
      run.out.substr(last),
      "Verdict: agree: at all 16 points of psn_tracker the model is within the limits of the RTL; nothing to set\n");
  EXPECT_NE(run.out.find("psn_tracker: latency 6."), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" in the model (nic.psn_tracker.latency_cycles = 6); one transfer per "), std::string::npos)
      << run.out;
  const ProcessResult full = run_process("mrcsim calibrate psn_tracker --size small --count 400 --out /dev/full");
  EXPECT_EQ(full.exit_code, 2);
}

TEST(Calibration, BoxesKeepToTheirRtl) {
  const ProcessResult run = run_process("mrcsim calibrate --count 4000 --seed 7001");
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  for (const char* block : {"psn_tracker", "ack_coalescer", "srv6_encap", "spray_scheduler", "retransmit_buffer"}) {
    EXPECT_NE(run.out.find(std::string("## ") + block + "\n"), std::string::npos) << block;
  }
  EXPECT_NE(run.out.find("## pcie_dma: "), std::string::npos);
  EXPECT_EQ(run.out.find("**no**"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace mrc
