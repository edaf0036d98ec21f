// RTL blocks in a whole run: what they decide is what SystemC decides, and what a wrong one decides is what happens.
#include <gtest/gtest.h>

#include <cmath>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(Rtl, SprayScheduler) {
  ASSERT_EQ(run_process(std::string("mrcsim") + kLossyRun + "--out %D/out").exit_code, 0);
  const auto systemc = result_of();
  for (const std::string mode : {"--shadow", "--rtl"}) {
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + "--out %D/out " + mode + " spray_scheduler");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto result = result_of();
    const auto& row = result["rtl"][0];
    EXPECT_EQ(row["block"], "spray_scheduler");
    EXPECT_EQ(row["mismatches"], 0);
    EXPECT_GT(row["transactions"], 16'000);
    EXPECT_EQ(result["bytes"]["delivered"], systemc["bytes"]["delivered"]);
    EXPECT_NEAR(result["goodput_gbps"].get<double>() / systemc["goodput_gbps"].get<double>(), 1, 0.01);
    const auto p99 = [](const auto& of) { return of["message_time_us"]["p99"].template get<double>(); };
    EXPECT_NEAR(p99(result) / p99(systemc), 1, 0.05);
    if (mode == "--shadow") {
      EXPECT_EQ(result["packets"], systemc["packets"]);
    }
  }
}

TEST(Rtl, SpraySchedulerOfOtherSizesIsRefused) {
  const ProcessResult run =
      run_process(std::string("mrcsim") + kLossyRun + "--out %D/out --set protocol.ev_count=512 --rtl spray_scheduler");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(
      run.err.find("path tables of 512 EVs on 8 planes; the RTL is built for 1024 path tables of 256 EVs on 8 planes"),
      std::string::npos)
      << run.err;
}

std::uint64_t hits_of(const nlohmann::json& coverage, const std::string& point, const std::string& bin) {
  for (const auto& p : coverage["points"]) {
    if (p["point"] != point) continue;
    for (const auto& b : p["bins"]) {
      if (b["bin"] == bin) return b["hits"].get<std::uint64_t>();
    }
  }
  ADD_FAILURE() << point << ": " << bin << ": there is none";
  return 0;
}

TEST(RtlBins, OfARunAreThoseOfItsTransfers) {
  const ProcessResult run =
      run_process(std::string("mrcsim") + kLossyRun + "--out %D/out --shadow ack_coalescer,psn_tracker@nic1 --bins");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto result = result_of();
  const auto bins = read_json(test_folder() / "out/bins.json");
  ASSERT_EQ(bins["blocks"].size(), 2U);
  const auto& ack = bins["blocks"][0];
  EXPECT_EQ(ack["block"], "ack_coalescer");
  EXPECT_TRUE(ack["mismatch"].is_null());
  const auto& coverage = ack["functional_coverage"];
  EXPECT_EQ(coverage["bins"], 31);
  EXPECT_EQ(hits_of(coverage, "event", "load"), 4U) << "one QP, played four times";
  EXPECT_EQ(hits_of(coverage, "event", "store"), 0U);
  EXPECT_GT(hits_of(coverage, "event", "data"), 4 * 16'000U);
  EXPECT_GT(hits_of(bins["blocks"][1]["functional_coverage"], "NACK", "TRIMMED"), 4 * 10U);
}

TEST(RtlBins, NeedABlockInShadow) {
  for (const std::string blocks : {"", "--rtl ack_coalescer"}) {
    const ProcessResult run = run_process(std::string("mrcsim") + kLossyRun + "--out %D/out --bins " + blocks);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err, "mrcsim: --bins needs --shadow BLOCK\n");
    EXPECT_FALSE(std::filesystem::exists(test_folder() / "out/bins.json"));
  }
}

#ifdef MRCSIM_WITH_SPRAY_BUG
TEST(Rtl, SpraySchedulerThatIsWrongIsNamedAndWhenItDrivesFollowed) {
  const ProcessResult shadow =
      run_process(std::string(MRCSIM_WITH_SPRAY_BUG) + kLossyRun + "--out %D/out --shadow spray_scheduler");
  EXPECT_EQ(shadow.exit_code, 4);
  EXPECT_NE(shadow.err.find("mismatch: nic0: spray_scheduler of nic0, transaction "), std::string::npos) << shadow.err;
  EXPECT_NE(shadow.err.find(": ev: expected 0x"), std::string::npos) << shadow.err;
  const auto beside = result_of();
  EXPECT_EQ(beside["status"], "mismatch");
  const ProcessResult rtl =
      run_process(std::string(MRCSIM_WITH_SPRAY_BUG) + kLossyRun + "--out %D/out --rtl spray_scheduler");
  EXPECT_EQ(rtl.exit_code, 4);
  EXPECT_NE(result_of()["buffers"], beside["buffers"]) << "the RTL's choice alone fills the ports";
}
#endif

}  // namespace
}  // namespace mrc
