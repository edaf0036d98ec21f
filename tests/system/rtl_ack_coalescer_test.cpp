// ack_coalescer by RTL in a whole run, and the commands of the RTL blocks: cosim and calibrate.
#include <gtest/gtest.h>

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
