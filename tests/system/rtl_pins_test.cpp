// --rtl-timing pins: the handshakes of the RTL set the pace of a run, so that what a block takes longer is seen in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kByPins = "--rtl-timing pins --rtl ";

double goodput(const nlohmann::json& result) {
  return result["goodput_gbps"].get<double>();
}

/// Cycles for which a packet occupies the block.
double occupied(const nlohmann::json& row) {
  return row["occupied_cycles"].get<double>() / row["transactions"].get<double>();
}

/// Gb/s that `limits` attributes to this cause.
double limited_by(const nlohmann::json& result, const std::string& cause) {
  double gbps = 0;
  for (const auto& limit : result["limits"]) {
    if (limit["cause"] == cause) gbps += limit["gbps"].get<double>();
  }
  return gbps;
}

const nlohmann::json& slot_of(const nlohmann::json& result, const std::string& node, const std::string& box) {
  const auto& ledger = result["ledger"];
  return *std::ranges::find_if(ledger, [&](const auto& row) { return row["node"] == node && row["box"] == box; });
}

class ByPins : public ::testing::TestWithParam<std::string> {};

TEST_P(ByPins, LossesAndTrimsBringNoMismatchAndGoodputIsThatOfSystemC) {
  ASSERT_EQ(run_process(std::string("mrcsim") + kLossyRun + "--out %D/systemc").exit_code, 0);
  const auto systemc = result_of("systemc");
  for (const std::string folder : {"first", "second"}) {
    const ProcessResult run =
        run_process(std::string("mrcsim") + kLossyRun + kByPins + GetParam() + " --out %D/" + folder);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  const auto result = result_of("first");
  std::uint64_t transactions = 0;
  for (const auto& row : result["rtl"]) {
    EXPECT_EQ(row["mismatches"], 0) << row;
    EXPECT_EQ(row["timing"], "pins");
    transactions += row["transactions"].get<std::uint64_t>();
  }
  EXPECT_GE(transactions, 10'000U);
  EXPECT_EQ(result["bytes"]["delivered"], systemc["bytes"]["delivered"]);
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
  EXPECT_NEAR(goodput(result) / goodput(systemc), 1, 0.01);
  EXPECT_EQ(read_text(test_folder() / "first" / "result.json"), read_text(test_folder() / "second" / "result.json"));
}

TEST_P(ByPins, BothKernelsGiveTheSame) {
  const std::string run =
      "mrcsim run tb/scenarios/pair.toml --quiet --set traffic.rows=4 " + (kByPins + GetParam()) + " --out %D/";
  ASSERT_EQ(run_process(run + "wheel").exit_code, 0);
  ASSERT_EQ(run_process(run + "methods --set run.kernel=methods").exit_code, 0);
  for (const char* part : {"rtl", "packets", "message_time_us", "ledger", "buffers"}) {
    EXPECT_EQ(result_of("wheel")[part], result_of("methods")[part]) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ByPins,
                         ::testing::Values("srv6_encap", "psn_tracker", "ack_coalescer", "retransmit_buffer",
                                           "spray_scheduler", "qp_scheduler", "pcie_dma", "all"),
                         [](const auto& blocks) {
                           std::string name = blocks.param;
                           std::ranges::replace(name, ',', '_');
                           return name;
                         });

TEST(RtlByPins, PacketsFollowEachOtherWithoutAGap) {
  const ProcessResult run =
      run_process(std::string("mrcsim run tb/scenarios/pair.toml --quiet --set traffic.rows=16 ") + kByPins +
                  "srv6_encap@nic0 --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto row = result_of()["rtl"][0];
  EXPECT_EQ(row["occupied_cycles"], row["systemc_occupied_cycles"]);
  EXPECT_EQ(row["latency_cycles"], row["systemc_latency_cycles"]);
  // Two stages are still to be emptied behind the last packet of each batch only.
  EXPECT_LT(row["cycles"].get<double>(), 1.1 * row["occupied_cycles"].get<double>());
}

constexpr const char* kPair = " run tb/scenarios/pair.toml --quiet --set traffic.rows=64 ";

struct PausedRuns {
  nlohmann::json pauses;
  nlohmann::json ours;
};

/// Of kPair by pins with an RTL variant of `block` that pauses, and with ours, whose goodput is that of SystemC. The
/// pauses lower it, and `limits` attributes what is lost to `cause`.
[[maybe_unused]] PausedRuns run_with_pauses(const std::string& variant, const std::string& block,
                                            const std::string& cause, const std::string& settings = "") {
  for (const auto& [command, options] : {std::pair(variant, kByPins + block + " --out %D/pauses"),
                                         {"mrcsim", kByPins + block + " --out %D/ours"},
                                         {"mrcsim", std::string("--out %D/systemc")}}) {
    const ProcessResult run = run_process(command + kPair + settings + options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  PausedRuns runs{result_of("pauses"), result_of("ours")};
  EXPECT_NEAR(goodput(runs.ours) / goodput(result_of("systemc")), 1, 0.01);
  for (const auto& row : runs.pauses["rtl"]) EXPECT_EQ(row["mismatches"], 0) << row;
  EXPECT_LT(goodput(runs.pauses), 0.95 * goodput(runs.ours));
  EXPECT_GT(limited_by(runs.pauses, cause), 0.7 * (goodput(runs.ours) - goodput(runs.pauses)));
  return runs;
}

#ifdef MRCSIM_WITH_PAUSES
// 33 beats and 16 cycles of pause for each packet of 4 KiB: at 1 GHz 49 ns, in which a line of 800 Gb/s sends more.
TEST(RtlByPins, APauseAfterEachPacketLowersGoodputAndLimitsNamesTheBlock) {
  const std::string with_pauses = std::string(MRCSIM_WITH_PAUSES) + kPair;
  ASSERT_EQ(run_process(with_pauses + kByPins + "srv6_encap --out %D/pauses").exit_code, 0);
  ASSERT_EQ(run_process(std::string("mrcsim") + kPair + kByPins + "srv6_encap --out %D/ours").exit_code, 0);
  const auto pauses = result_of("pauses");
  const auto ours = result_of("ours");
  EXPECT_EQ(pauses["rtl"][0]["mismatches"], 0);
  EXPECT_NEAR(occupied(pauses["rtl"][0]), occupied(ours["rtl"][0]) + 16, 0.5);
  EXPECT_GT(slot_of(pauses, "nic0", "srv6_encap")["busy"], slot_of(ours, "nic0", "srv6_encap")["busy"]);
  EXPECT_LT(goodput(pauses), 0.95 * goodput(ours));
  // What the block lets through: a payload of 4 KiB in 49 ns.
  EXPECT_NEAR(goodput(pauses), 4096 * 8 / 49.0, 0.03 * 4096 * 8 / 49.0);
  const double lost = goodput(ours) - goodput(pauses);
  EXPECT_GT(limited_by(pauses, "srv6_encap"), 0.7 * lost);
  EXPECT_LT(limited_by(ours, "srv6_encap"), 0.1 * lost);
  for (const auto& limit : pauses["limits"]) {
    if (limit["cause"] == "framing") continue;
    EXPECT_LE(limit["gbps"], limited_by(pauses, "srv6_encap")) << limit;
  }
}

TEST(RtlByPins, APauseThatDoesNotLimitCostsNoGoodput) {
  // Four ports of 100 Gb/s, of which each has 10 ns more for a packet than the block.
  const std::string with_pauses = std::string(MRCSIM_WITH_PAUSES) + kPair + "--set nic.ports=4 ";
  ASSERT_EQ(run_process(with_pauses + kByPins + "srv6_encap --out %D/pauses").exit_code, 0);
  ASSERT_EQ(run_process(std::string("mrcsim") + kPair + "--set nic.ports=4 --out %D/systemc").exit_code, 0);
  const auto pauses = result_of("pauses");
  EXPECT_GT(
      occupied(pauses["rtl"][0]),
      pauses["rtl"][0]["systemc_occupied_cycles"].get<double>() / pauses["rtl"][0]["transactions"].get<double>() + 15);
  EXPECT_NEAR(goodput(pauses) / goodput(result_of("systemc")), 1, 0.01);
}
#endif

#ifdef MRCSIM_WITH_USID_BUG
TEST(RtlByPins, WrongBytesEndTheRun) {
  const ProcessResult run =
      run_process(std::string(MRCSIM_WITH_USID_BUG) + kLossyRun + kByPins + "srv6_encap@nic0 --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic0: srv6_encap of nic0, packet 1 (PSN "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("outer header usid[1]: expected 0x"), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_EVENT_PAUSES
TEST(RtlByPins, APauseAfterEachEventOfTheReceiverLowersGoodputAndLimitsNamesTheBlock) {
  // 65 cycles for each packet: at 1 GHz 65 ns.
  const auto [pauses, ours] = run_with_pauses(MRCSIM_WITH_EVENT_PAUSES, "ack_coalescer", "receiver.ack_coalescer");
  EXPECT_NEAR(occupied(ours["rtl"][1]), 1, 0.01);
  EXPECT_NEAR(occupied(pauses["rtl"][1]), 65, 0.5);
  EXPECT_GT(slot_of(pauses, "nic1", "ack_coalescer.triggers")["busy"], 0.9);
  EXPECT_NEAR(goodput(pauses), 4096 * 8 / 65.0, 0.05 * 4096 * 8 / 65.0);
}
#endif

#ifdef MRCSIM_WITH_REQUEST_PAUSES
TEST(RtlByPins, APauseAfterEachRequestOfTheWindowLowersGoodputAndLimitsNamesTheBlock) {
  // 65 cycles for each packet, and for each SACK that is read.
  const auto [pauses, ours] = run_with_pauses(MRCSIM_WITH_REQUEST_PAUSES, "psn_tracker", "receiver.psn_tracker");
  EXPECT_GT(occupied(pauses["rtl"][1]), occupied(ours["rtl"][1]) + 64);
  EXPECT_GT(slot_of(pauses, "nic1", "psn_tracker")["busy"], 0.9);
}
#endif

#ifdef MRCSIM_WITH_COMMAND_PAUSES
TEST(RtlByPins, APauseAfterEachCommandOfTheRecordsLowersGoodputAndLimitsNamesTheBlock) {
  // 33 cycles for each command: two for a packet, and those of its acknowledgement.
  const auto [pauses, ours] = run_with_pauses(MRCSIM_WITH_COMMAND_PAUSES, "retransmit_buffer", "retransmit_buffer");
  EXPECT_GT(occupied(pauses["rtl"][0]), occupied(ours["rtl"][0]) + 30);
  EXPECT_GT(slot_of(pauses, "nic0", "retransmit_buffer")["busy"], 0.9);
  EXPECT_LT(goodput(pauses), 4096 * 8 / 66.0);
}
#endif

#ifdef MRCSIM_WITH_PATH_PAUSES
TEST(RtlByPins, APauseAfterEachPathLowersGoodputAndLimitsNamesTheBlock) {
  // 65 cycles for each packet: at 1 GHz 65 ns.
  const nlohmann::json pauses = run_with_pauses(MRCSIM_WITH_PATH_PAUSES, "spray_scheduler", "spray_scheduler").pauses;
  EXPECT_GT(slot_of(pauses, "nic0", "spray_scheduler")["busy"], 0.9);
  EXPECT_NEAR(goodput(pauses), 4096 * 8 / 65.0, 0.05 * 4096 * 8 / 65.0);
}
#endif

/// 4,096 messages of a packet each, over more QPs than the NIC has contexts: each is evicted before it comes again.
constexpr int kTurns = 4'096;
std::string turns_of_all(int qps) {
  std::string flows;
  for (int i = 0; i < kTurns; ++i) flows += fmt::format("0,0,1,4096,{}\n", i % qps);
  return flows;
}
std::string many_qps(int qps) {
  return fmt::format(
      "traffic.qps_per_peer = {}\ntraffic.outstanding_messages = 256\nprotocol.path_table_scope = \"destination\"\n"
      "fabric.nics = 2\ntransport = \"mrc\"\n",
      qps);
}

class ManyQpsByPins : public ::testing::TestWithParam<std::string> {};

TEST_P(ManyQpsByPins, ContextMissesAndGoodputAreThoseOfSystemC) {
  const std::string settings = many_qps(2'048) + GetParam();
  const auto systemc = run_flows(turns_of_all(2'048), settings, "", "systemc");
  const auto pins = run_flows(turns_of_all(2'048), settings, kByPins + std::string("qp_scheduler"), "pins");
  ASSERT_EQ(pins["rtl"].size(), 2U);
  for (const auto& row : pins["rtl"]) {
    EXPECT_EQ(row["mismatches"], 0) << row;
    EXPECT_GE(row["transactions"], kTurns) << row;
  }
  EXPECT_EQ(pins["bytes"]["delivered"], systemc["bytes"]["delivered"]);
  // A loss near the end costs a timeout, which is a sixth of the run.
  EXPECT_NEAR(goodput(pins) / goodput(systemc), 1, GetParam().empty() ? 0.02 : 0.1);
}

INSTANTIATE_TEST_SUITE_P(With, ManyQpsByPins,
                         ::testing::Values("", "fabric.loss_rate = 0.001\nfabric.trim_rate = 0.002\n"),
                         [](const auto& settings) { return settings.param.empty() ? "AllPackets" : "Losses"; });

TEST(RtlByPins, AllQpsOfTheBlockAreThoseOfSystemC) {
  const std::string run = "mrcsim run tb/scenarios/many_qps.toml --quiet --out %D/";
  ASSERT_EQ(run_process(run + "systemc").exit_code, 0);
  const ProcessResult by_pins = run_process(run + "pins " + kByPins + "qp_scheduler");
  ASSERT_EQ(by_pins.exit_code, 0) << by_pins.err;
  const auto pins = result_of("pins");
  for (const auto& row : pins["rtl"]) EXPECT_EQ(row["mismatches"], 0) << row;
  EXPECT_NEAR(goodput(pins) / goodput(result_of("systemc")), 1, 0.02);
}

#ifdef MRCSIM_WITH_TURN_PAUSES
TEST(RtlByPins, APauseAfterEachTurnLowersGoodputAndLimitsNamesTheBlock) {
  // A turn of 16 KiB in 257 cycles: at 1 GHz 257 ns.
  const nlohmann::json pauses = run_with_pauses(MRCSIM_WITH_TURN_PAUSES, "qp_scheduler", "qp_scheduler").pauses;
  EXPECT_GT(slot_of(pauses, "nic0", "qp_scheduler")["busy"], 0.9);
  EXPECT_LT(goodput(pauses), 16'384 * 8 / 257.0);
}
#endif

#ifdef MRCSIM_WITH_READ_PAUSES
TEST(RtlByPins, APauseAfterEachReadRequestLowersGoodputAndLimitsNamesTheBlock) {
  // A request of 4 KiB in 65 cycles: at 1 GHz 65 ns.
  const nlohmann::json pauses =
      run_with_pauses(MRCSIM_WITH_READ_PAUSES, "pcie_dma", "pcie.read_issue", "--set pcie.mrrs_bytes=4096 ").pauses;
  EXPECT_NEAR(goodput(pauses), 4096 * 8 / 65.0, 0.05 * 4096 * 8 / 65.0);
}
#endif

#ifdef MRCSIM_WITH_CONTEXT_BUG
TEST(RtlByPins, AContextThatIsNotThereEndsTheRun) {
  run_flows(turns_of_all(2'048), many_qps(2'048));
  const ProcessResult run = run_process(std::string(MRCSIM_WITH_CONTEXT_BUG) + " run %D/scenario.toml --quiet " +
                                        kByPins + "qp_scheduler@nic0 --out %D/pins");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic0: qp_scheduler of nic0, transaction "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(": lookup: expected "), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_SPRAY_BUG
TEST(RtlByPins, AWrongPathEndsTheRun) {
  const ProcessResult run =
      run_process(std::string(MRCSIM_WITH_SPRAY_BUG) + kLossyRun + kByPins + "spray_scheduler@nic0 --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic0: spray_scheduler of nic0, transaction "), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_RECORD_BUG
TEST(RtlByPins, AWrongRecordEndsTheRun) {
  const ProcessResult run =
      run_process(std::string(MRCSIM_WITH_RECORD_BUG) + kLossyRun + kByPins + "retransmit_buffer@nic0 --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic0: retransmit_buffer of nic0, transaction "), std::string::npos) << run.err;
}
#endif

#ifdef MRCSIM_WITH_TRIGGER_BUG
TEST(RtlByPins, AMissingSackEndsTheRun) {
  const ProcessResult run =
      run_process(std::string(MRCSIM_WITH_TRIGGER_BUG) + kLossyRun + kByPins + "ack_coalescer@nic1 --out %D/out");
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("mismatch: nic1: ack_coalescer of nic1, event "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("causes: expected 0x1, RTL gave 0x0"), std::string::npos) << run.err;
}
#endif

bool by_pins(const std::string& options) {
  return options.find("pins") != std::string::npos;
}

TEST(RtlByPins, TheIcrcIsAppendedInTheBlockAsSystemCSays) {
  const std::string run = std::string("mrcsim") + kLossyRun + " --set nic.srv6_encap.appends_icrc=true ";
  ASSERT_EQ(run_process(run + "--out %D/systemc").exit_code, 0);
  for (const char* mode : {"--shadow srv6_encap", "--rtl srv6_encap", "--rtl srv6_encap --rtl-timing pins"}) {
    const ProcessResult rtl = run_process(run + mode + " --out %D/rtl");
    ASSERT_EQ(rtl.exit_code, 0) << mode << rtl.err;
    const auto result = result_of("rtl");
    for (const auto& row : result["rtl"]) {
      EXPECT_EQ(row["mismatches"], 0) << mode << row;
      if (row["transactions"] == 0) continue;
      const std::uint64_t latency = 7 * row["transactions"].get<std::uint64_t>();
      EXPECT_EQ(row["systemc_latency_cycles"], latency) << mode << row;
      // By pins, what follows a SACK is taken while the SACK's second beat is still to come out, and waits for it
      // inside.
      EXPECT_GE(row["latency_cycles"], latency) << mode << row;
      EXPECT_LE(row["latency_cycles"], by_pins(mode) ? latency + latency / 100 : latency) << mode << row;
    }
    EXPECT_NEAR(goodput(result) / goodput(result_of("systemc")), 1, 0.01) << mode;
  }
  const ProcessResult encrypted =
      run_process(run + "protocol.encryption.framing=esp fabric.trim_bytes=192 --out %D/encrypted");
  EXPECT_EQ(encrypted.exit_code, 2);
  EXPECT_NE(encrypted.err.find("nic.srv6_encap.appends_icrc = true: with protocol.encryption.framing"),
            std::string::npos)
      << encrypted.err;
}

TEST(RtlByPins, ControlPacketsMayComeWithTheirIcrc) {
  // Both ways, so that each NIC has packets of both kinds.
  std::string flows;
  for (int i = 0; i < 64; ++i) flows += fmt::format("0,{},{},{},{}\n", i % 2, 1 - i % 2, 20'000 + 404 * i, i);
  const std::string settings =
      "fabric.nics = 2\ntransport = \"mrc\"\nfabric.ecn_rate = 0.1\nnic.srv6_encap.appends_icrc = true\n"
      "nic.srv6_encap.appends_icrc_to_control = false\n";
  const auto systemc = run_flows(flows, settings, "", "systemc");
  for (const std::string mode : {"--shadow srv6_encap", "--rtl srv6_encap", "--rtl srv6_encap --rtl-timing pins"}) {
    const auto result = run_flows(flows, settings, mode, "rtl");
    for (const auto& row : result["rtl"]) {
      EXPECT_EQ(row["mismatches"], 0) << mode << row;
      // Two kinds of latency: 7 cycles for data, 2 for control packets.
      EXPECT_LT(row["systemc_latency_cycles"], 7 * row["transactions"].get<std::uint64_t>()) << mode << row;
      EXPECT_NEAR(row["latency_cycles"].get<double>() / row["systemc_latency_cycles"].get<double>(), 1, 0.02)
          << mode << row;
    }
    EXPECT_EQ(result["bytes"], systemc["bytes"]) << mode;
    EXPECT_NEAR(goodput(result) / goodput(systemc), 1, 0.01) << mode;
  }
}

TEST(RtlByPins, ControlPacketsPassWithTheirCarrier) {
  const std::string run = std::string("mrcsim") + kLossyRun +
                          " --set protocol.encapsulation=srv6_srh fabric.trim_bytes=192 protocol.srh_share=0.5 "
                          "protocol.first_psn=16777000 ";
  ASSERT_EQ(run_process(run + "--out %D/systemc").exit_code, 0);
  ASSERT_EQ(run_process(run + "nic.srv6_encap.control_packets=false --shadow srv6_encap --out %D/data").exit_code, 0);
  for (const char* mode : {"--shadow srv6_encap", "--rtl srv6_encap", "--rtl srv6_encap --rtl-timing pins"}) {
    const ProcessResult rtl = run_process(run + mode + " --out %D/rtl");
    ASSERT_EQ(rtl.exit_code, 0) << mode << rtl.err;
    const auto result = result_of("rtl");
    for (std::size_t i = 0; i < result["rtl"].size(); ++i) {
      const auto& row = result["rtl"][i];
      EXPECT_EQ(row["mismatches"], 0) << mode << row;
      EXPECT_GT(row["transactions"], result_of("data")["rtl"][i]["transactions"]) << mode;
    }
    EXPECT_NEAR(goodput(result) / goodput(result_of("systemc")), 1, 0.01) << mode;
  }
}

TEST(RtlByPins, WhatCannotBeClockedIsRefused) {
  const std::string run = "mrcsim run tb/scenarios/pair.toml --out %D/out --rtl-timing pins ";
  struct Refusal {
    const char* options;
    const char* text;
  };
  const std::vector<Refusal> refusals{
      {"--shadow srv6_encap", "--rtl-timing pins: no block is selected; allowed: with --rtl BLOCK[@NODE],…"},
      {"", "--rtl-timing pins: no block is selected"},
      {"--rtl-timing pin --rtl srv6_encap", "--rtl-timing"}};
  for (const Refusal& refusal : refusals) {
    const ProcessResult refused = run_process(run + refusal.options);
    EXPECT_EQ(refused.exit_code, 2) << refusal.options;
    EXPECT_NE(refused.err.find(refusal.text), std::string::npos) << refused.err;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
}

}  // namespace
}  // namespace mrc
