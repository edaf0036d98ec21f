// Neighbors that are joined in RTL (rtl/nic_tx, rtl/nic_rx): what one hands to the next does not leave the RTL.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kTransmit = " --rtl-timing pins --rtl spray_scheduler,retransmit_buffer,srv6_encap";
constexpr const char* kReceive = " --rtl-timing pins --rtl psn_tracker,ack_coalescer";

double goodput(const nlohmann::json& result) {
  return result["goodput_gbps"].get<double>();
}

void expect_no_mismatch(const nlohmann::json& result) {
  for (const auto& row : result["rtl"]) EXPECT_EQ(row["mismatches"], 0) << row;
}

class JoinedRtl : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(JoinedRtl, GivesWhatQueuesOfTheModelGive) {
  const auto [name, selection] = GetParam();
  for (const std::string folder : {"joined", "apart"}) {
    const std::string apart = folder == "apart" ? " --rtl-apart" : "";
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + selection + apart + " --out %D/" + folder);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  const auto joined = result_of("joined");
  const auto apart = result_of("apart");
  expect_no_mismatch(joined);
  EXPECT_EQ(joined["bytes"]["delivered"], apart["bytes"]["delivered"]);
  EXPECT_NEAR(goodput(joined) / goodput(apart), 1, 0.002);
  // Packets go through a block as fast either way.
  for (std::size_t i = 0; i < joined["rtl"].size(); ++i) {
    const auto& left = joined["rtl"][i];
    const auto& right = apart["rtl"][i];
    ASSERT_EQ(left["block"], right["block"]);
    if (right["transactions"] == 0) continue;
    const auto latency = [](const auto& row) {
      return row["latency_cycles"].template get<double>() / row["transactions"].template get<double>();
    };
    EXPECT_NEAR(latency(left), latency(right), 0.1) << left << right;
  }
  const std::string names = joined["rtl_sources"].dump();
  EXPECT_NE(names.find(name), std::string::npos) << names;
  EXPECT_EQ(apart["rtl_sources"].dump().find(name), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Of, JoinedRtl,
                         ::testing::Values(std::pair("nic_tx", kTransmit), std::pair("nic_rx", kReceive)),
                         [](const auto& joined) { return std::string(joined.param.first); });

TEST(JoinedRtl, OneBlockOfThemIsNotJoined) {
  const ProcessResult run = run_process(
      "mrcsim run tb/scenarios/pair.toml --set traffic.rows=2 --rtl-timing pins --rtl psn_tracker --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find("RTL: nic_rx"), std::string::npos) << run.out;
}

TEST(JoinedRtl, AnotherDatapathIsNotJoined) {
  const ProcessResult run =
      run_process(std::string("mrcsim run tb/scenarios/pair.toml --set traffic.rows=2 --set nic.datapath_bits=512") +
                  kTransmit + " --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find("RTL: nic_tx"), std::string::npos) << run.out;
  expect_no_mismatch(result_of());
}

TEST(JoinedRtl, ApartNeedsPins) {
  const ProcessResult run = run_process("mrcsim run tb/scenarios/pair.toml --rtl psn_tracker --rtl-apart --out %D/out");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("--rtl-apart needs --rtl-timing pins"), std::string::npos) << run.err;
}

#ifdef MRCSIM_WITH_EVENT_BUG
TEST(JoinedRtl, AnEventThatIsAnotherEndsTheRun) {
  const ProcessResult run = run_process(std::string(MRCSIM_WITH_EVENT_BUG) + kLossyRun +
                                        "--set fabric.duplicate_rate=0.01" + kReceive + " --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("nic_rx RTL, event of PSN "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("event: expected 0x2, RTL gave 0x1"), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_PATH_BUG
TEST(JoinedRtl, APacketThatIsMarkedWithTheEvOfAnotherEndsTheRun) {
  const ProcessResult run = run_process(std::string(MRCSIM_WITH_PATH_BUG) + kLossyRun + kTransmit + " --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("nic_tx RTL marks PSN "), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_JOINED_PAUSES
// One module of a user in the place of two blocks; 65 cycles for each packet are those of ack_coalescer in it.
TEST(JoinedRtl, APauseInAUsersModuleLowersGoodputAndLimitsNamesItsBlock) {
  const std::string pair = " run tb/scenarios/pair.toml --quiet --set traffic.rows=64 ";
  const ProcessResult run = run_process(std::string(MRCSIM_WITH_JOINED_PAUSES) + pair + kReceive + " --out %D/pauses");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run_process("mrcsim" + pair + kReceive + " --out %D/ours").exit_code, 0);
  const auto pauses = result_of("pauses");
  expect_no_mismatch(pauses);
  EXPECT_NEAR(goodput(pauses), 4096 * 8 / 65.0, 0.05 * 4096 * 8 / 65.0);
  double limited = 0;
  for (const auto& limit : pauses["limits"]) {
    if (limit["cause"] == "receiver.ack_coalescer") limited += limit["gbps"].get<double>();
  }
  EXPECT_GT(limited, 0.7 * (goodput(result_of("ours")) - goodput(pauses)));
}
#endif

#ifdef MRCSIM_WITH_PAUSES
// A user's srv6_encap is not in our nic_tx.
TEST(JoinedRtl, AUsersBlockIsNotJoinedWithOurs) {
  const ProcessResult run =
      run_process(std::string(MRCSIM_WITH_PAUSES) + " run tb/scenarios/pair.toml --set traffic.rows=2" + kTransmit +
                  " --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find("RTL: nic_tx"), std::string::npos) << run.out;
  expect_no_mismatch(result_of());
}
#endif

}  // namespace
}  // namespace mrc
