// psn_tracker by RTL in a whole run: beside the box it agrees in every field, in its place it decides alone.
#include <gtest/gtest.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(RtlPsnTracker, BesideAndInThePlaceOfTheBox) {
  ASSERT_EQ(run_process(std::string("mrcsim") + kLossyRun + "--out %D/systemc").exit_code, 0);
  const auto systemc = result_of("systemc");
  ASSERT_GT(systemc["packets"]["retransmitted"].get<std::uint64_t>(), 0U);
  for (const std::string mode : {"shadow", "rtl"}) {
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + "--" + mode + " psn_tracker --out %D/" + mode);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto result = result_of(mode);
    const auto row = result["rtl"][1];  // of the receiver
    EXPECT_EQ(row["block"], "psn_tracker");
    EXPECT_EQ(row["mismatches"], 0);
    EXPECT_GT(row["transactions"], 16'384) << "every packet";
    EXPECT_EQ(row["occupied_cycles"], row["systemc_occupied_cycles"]);
    EXPECT_EQ(row["latency_cycles"], row["systemc_latency_cycles"]);
    EXPECT_EQ(result["packets"], systemc["packets"]);
    EXPECT_EQ(result["bytes"], systemc["bytes"]);
    EXPECT_EQ(result["message_time_us"], systemc["message_time_us"]);
  }
}

TEST(RtlPsnTracker, DynamicMpr) {
  const ProcessResult run = run_process(
      "mrcsim run tb/scenarios/ring.toml --quiet --set fabric.loss_rate=0.002 --set protocol.dynamic_mpr=true "
      "--shadow psn_tracker --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(result_of("out")["rtl"].size(), 2U);
}

TEST(RtlPsnTracker, OtherSizesAreRefused) {
  const ProcessResult banks = run_process(
      "mrcsim run tb/scenarios/pair.toml --set nic.psn_tracker.bitmap_banks=64 --rtl psn_tracker --out %D/out");
  EXPECT_EQ(banks.exit_code, 2);
  EXPECT_NE(banks.err.find("nic.psn_tracker.bitmap_banks = 64: RTL of psn_tracker is built for 4096"),
            std::string::npos)
      << banks.err;
  const ProcessResult window =
      run_process("mrcsim run tb/scenarios/pair.toml --set protocol.mpr_units=16 --shadow psn_tracker --out %D/out");
  EXPECT_EQ(window.exit_code, 2);
  EXPECT_NE(window.err.find("protocol.mpr_units = 16: RTL of psn_tracker is built for 8"), std::string::npos)
      << window.err;
}

#ifdef MRCSIM_WITH_WINDOW_BUG
TEST(RtlPsnTracker, ThatRefusesEveryPacketIsNamedAndWhenItDrivesNothingArrives) {
  const ProcessResult shadow =
      run_process(std::string(MRCSIM_WITH_WINDOW_BUG) + kLossyRun + "--shadow psn_tracker@nic1 --out %D/shadow");
  EXPECT_EQ(shadow.exit_code, 4);
  EXPECT_NE(shadow.err.find("mismatch: nic1: psn_tracker of nic1, request "), std::string::npos) << shadow.err;
  EXPECT_NE(shadow.err.find("request 1 (data, PSN "), std::string::npos) << shadow.err;
  EXPECT_NE(shadow.err.find("nack: expected 0x0, RTL gave 0x7"), std::string::npos) << shadow.err;
  EXPECT_GT(result_of("shadow")["packets"]["delivered"], 0);
  const ProcessResult rtl =
      run_process(std::string(MRCSIM_WITH_WINDOW_BUG) + kLossyRun + "--rtl psn_tracker@nic1 --out %D/rtl");
  EXPECT_EQ(rtl.exit_code, 4);
  EXPECT_EQ(result_of("rtl")["packets"]["delivered"], 0) << "the RTL alone decides what is taken in";
}
#endif

}  // namespace
}  // namespace mrc
