// qp_scheduler by RTL in a whole run: beside the box it agrees in every field, in its place it decides alone; with more
// QPs than contexts on the NIC as well.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(RtlQpScheduler, BesideAndInThePlaceOfTheBox) {
  ASSERT_EQ(run_process(std::string("mrcsim") + kLossyRun + "--out %D/systemc").exit_code, 0);
  const auto systemc = result_of("systemc");
  ASSERT_GT(systemc["packets"]["retransmitted"].get<std::uint64_t>(), 0U);
  for (const std::string mode : {"shadow", "rtl"}) {
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + "--" + mode + " qp_scheduler --out %D/" + mode);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto result = result_of(mode);
    ASSERT_EQ(result["rtl"].size(), 2U);
    for (const auto& row : result["rtl"]) EXPECT_EQ(row["mismatches"], 0) << row;
    const auto& sender = result["rtl"][0];
    EXPECT_EQ(sender["block"], "qp_scheduler");
    EXPECT_GT(sender["transactions"], 4'096) << "a turn for four packets";
    EXPECT_EQ(sender["latency_cycles"], sender["systemc_latency_cycles"]);
    EXPECT_GT(result["rtl"][1]["transactions"], 0) << "contexts of the receiving side";
    EXPECT_EQ(result["packets"], systemc["packets"]);
    EXPECT_EQ(result["bytes"], systemc["bytes"]);
    EXPECT_EQ(result["message_time_us"], systemc["message_time_us"]);
  }
}

/// 4,096 messages of a packet each over twice as many QPs as the NIC has contexts: each is evicted before it comes
/// again.
constexpr int kQps = 2'048;
std::string turns_of_all() {
  std::string flows;
  for (int i = 0; i < 2 * kQps; ++i) flows += fmt::format("0,0,1,4096,{}\n", i);
  return flows;
}
std::string many_qps() {
  return fmt::format(
      "traffic.qps_per_peer = {}\ntraffic.outstanding_messages = 256\nprotocol.path_table_scope = \"destination\"\n"
      "fabric.nics = 2\ntransport = \"mrc\"\n",
      kQps);
}

TEST(RtlQpScheduler, ContextsThatTakeTheSlotsOfOthers) {
  const auto systemc = run_flows(turns_of_all(), many_qps(), "", "systemc");
  const auto shadow = run_flows(turns_of_all(), many_qps(), "--shadow qp_scheduler", "shadow");
  const auto rtl = run_flows(turns_of_all(), many_qps(), "--rtl qp_scheduler", "rtl");
  for (const auto& result : {shadow, rtl}) {
    ASSERT_EQ(result["rtl"].size(), 2U);
    for (const auto& row : result["rtl"]) {
      EXPECT_EQ(row["mismatches"], 0) << row;
      EXPECT_GE(row["transactions"], 2 * kQps) << row;
    }
    EXPECT_EQ(result["packets"], systemc["packets"]);
    // Second chance in the place of the least recently used one.
    EXPECT_NEAR(result["goodput_gbps"].get<double>() / systemc["goodput_gbps"].get<double>(), 1, 0.02);
  }
  EXPECT_EQ(rtl["message_time_us"], shadow["message_time_us"]);
}

/// As many messages at once as there are contexts: those whose packets are on their way stay until their SACK.
TEST(RtlQpScheduler, ContextsOfManyMessagesAreReadAsOftenAsSystemCSays) {
  std::string flows;
  for (int i = 0; i < 2 * kQps; ++i) flows += fmt::format("0,0,1,16384,{}\n", i);
  const std::string load = " --set traffic.outstanding_messages=1024 traffic.qps_per_peer=4096";
  const auto systemc = run_flows(flows, many_qps(), load, "systemc");
  EXPECT_EQ(systemc["contexts"]["read"], 4 * kQps) << "once by the sender, once by the receiver";
  for (const char* mode : {"--rtl qp_scheduler", "--rtl qp_scheduler --rtl-timing pins"}) {
    const auto rtl = run_flows(flows, many_qps(), mode + load, "rtl");
    EXPECT_EQ(rtl["contexts"]["read"], systemc["contexts"]["read"]) << mode;
    EXPECT_NEAR(rtl["goodput_gbps"].get<double>() / systemc["goodput_gbps"].get<double>(), 1, 0.02) << mode;
  }
}

/// More QPs are active than there are contexts, both ways and with losses: SACKs, timeouts and packets find none.
TEST(RtlQpScheduler, EvictedContextsThatAreNeededAgreeInAllModes) {
  std::string flows;
  for (int i = 0; i < 4 * kQps; ++i) flows += fmt::format("0,{},{},4096,{}\n", i % 2, 1 - i % 2, i);
  const std::string scenario =
      many_qps() + "fabric.loss_rate = 0.001\nfabric.trim_rate = 0.002\nnic.doorbell.queue_entries = 2048\n";
  int run = 0;
  for (const char* mode : {"--shadow qp_scheduler", "--rtl qp_scheduler", "--rtl qp_scheduler --rtl-timing pins"}) {
    const auto result = run_flows(flows, scenario, std::string(mode) + " --set traffic.outstanding_messages=2048",
                                  fmt::format("out{}", run++));
    ASSERT_EQ(result["rtl"].size(), 2U) << mode;
    for (const auto& row : result["rtl"]) EXPECT_EQ(row["mismatches"], 0) << mode << row;
    EXPECT_EQ(result["messages"]["completed"], 4 * kQps) << mode;
    EXPECT_GT(result["contexts"]["evicted"], kQps) << mode;
    EXPECT_NEAR(result["contexts"]["written"].get<int>(), result["contexts"]["evicted"].get<int>(), 16) << mode;
  }
}

TEST(RtlQpScheduler, WhatItDoesNotKnowIsRefused) {
  const auto refused = [](const std::string& settings, const std::string& message) {
    const ProcessResult run =
        run_process("mrcsim run tb/scenarios/pair.toml --set " + settings + " --rtl qp_scheduler --out %D/out");
    EXPECT_EQ(run.exit_code, 2) << settings;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  };
  refused("nic.qp_scheduler.context_cache_entries=64",
          "nic.qp_scheduler.context_cache_entries = 64: RTL of qp_scheduler is built for 1024");
  refused("traffic.classes.count=2", "qp_scheduler has no traffic classes in RTL; allowed: traffic.classes.count = 1");
}

#ifdef MRCSIM_WITH_CONTEXT_BUG
TEST(RtlQpScheduler, ThatUsesAContextWhichIsNotThereIsNamed) {
  run_flows(turns_of_all(), many_qps());
  const ProcessResult run = run_process(std::string(MRCSIM_WITH_CONTEXT_BUG) +
                                        " run %D/scenario.toml --quiet --shadow qp_scheduler@nic0 --out %D/shadow");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic0: qp_scheduler of nic0, transaction "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(": lookup: expected "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(", RTL gave here"), std::string::npos) << run.err;
}
#endif

}  // namespace
}  // namespace mrc
