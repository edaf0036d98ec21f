// Whole runs: the main job, its faults, RTL in the path, determinism, what the result says about itself.
#include <gtest/gtest.h>

#include <ostream>

#include <ostream>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kPair = "mrcsim run tb/scenarios/pair.toml --out %D/out ";

nlohmann::json result_of_test() {
  return read_json(test_folder() / "out" / "result.json");
}

void expect_whole_and_intact(const nlohmann::json& r) {
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["messages"]["completed"], r["messages"]["count"]);
  EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
}

/// Shares of each ledger row make 1, and goodput with its limits makes line rate.
void expect_closed_accounts(const nlohmann::json& r) {
  for (const auto& row : r["ledger"]) {
    double sum = row["busy"].get<double>() + row["starved"].get<double>() + row["idle"].get<double>();
    for (const auto& [cause, share] : row["blocked"].items()) sum += share.get<double>();
    EXPECT_NEAR(sum, 1.0, 1e-9) << row;
  }
  double sum = r["goodput_gbps"].get<double>();
  for (const auto& limit : r["limits"]) sum += limit["gbps"].get<double>();
  EXPECT_NEAR(sum, r["line_rate_gbps"].get<double>(), 1e-6);
  for (const auto& buffer : r["buffers"]) EXPECT_LE(buffer["high_water"], buffer["capacity"]) << buffer;
}

TEST(Run, PairHoldsLineRateAndEveryByte) {
  ASSERT_EQ(run_process(kPair).exit_code, 0);
  const auto r = result_of_test();
  expect_whole_and_intact(r);
  expect_closed_accounts(r);
  EXPECT_GE(r["goodput_gbps"].get<double>(), 745.0);
  EXPECT_LE(r["goodput_gbps"].get<double>(), r["framing_limit_gbps"].get<double>());
  EXPECT_NEAR(r["framing_limit_gbps"].get<double>(), 768.8, 0.1);
  EXPECT_EQ(r["packets"]["sent"], 262'144);
  EXPECT_EQ(r["packets"]["delivered"], 262'144);
}

TEST(Run, RingAllReduceFromChakraBothWays) {
  ASSERT_EQ(run_process("mrcsim run tb/scenarios/ring.toml --out %D/out").exit_code, 0);
  const auto r = result_of_test();
  expect_whole_and_intact(r);
  expect_closed_accounts(r);
  EXPECT_GT(r["nodes"][0]["tx_gbps"].get<double>(), 700.0);
  EXPECT_GT(r["nodes"][1]["tx_gbps"].get<double>(), 700.0);
}

struct Faults {
  const char* name;
  const char* settings;
  const char* counter;  ///< of packets{} that must not be 0
  friend void PrintTo(const Faults& value, std::ostream* out) { *out << value.name; }
};
class Faulty : public ::testing::TestWithParam<Faults> {};

TEST_P(Faulty, CompleteAndIntact) {
  const ProcessResult result = run_process(fmt::format("{} {}", kPair, GetParam().settings));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto r = result_of_test();
  expect_whole_and_intact(r);
  expect_closed_accounts(r);
  EXPECT_GT(r["packets"][GetParam().counter], 0);
}
INSTANTIATE_TEST_SUITE_P(
    Each, Faulty,
    ::testing::Values(Faults{"Loss", "--set fabric.loss_rate=0.001", "dropped"},
                      Faults{"Trim", "--set fabric.trim_rate=0.001", "trimmed"},
                      Faults{"Corrupt", "--set fabric.corrupt_rate=0.001", "corrupted"},
                      Faults{"Duplicate", "--set fabric.duplicate_rate=0.001", "duplicate"},
                      Faults{"Ecn", "--set fabric.ecn_rate=0.001", "ce_marked"},
                      Faults{"All",
                             "--set fabric.loss_rate=0.01 --set fabric.trim_rate=0.01 --set fabric.corrupt_rate=0.001 "
                             "--set fabric.duplicate_rate=0.01 --set fabric.ecn_rate=0.01",
                             "retransmitted"},
                      Faults{"SmallMtuUnaligned",
                             "--set protocol.mtu_bytes=1024 --set traffic.byte_scale=0.031 --set "
                             "traffic.offset_bytes=64 --set fabric.loss_rate=0.001",
                             "dropped"},
                      Faults{
                          "DynamicMprWithFewBanks",
                          "--set traffic.byte_scale=0.1 --set fabric.loss_rate=0.003 --set protocol.dynamic_mpr=true "
                          "--set nic.psn_tracker.bitmap_banks=3",
                          "dropped"},
                      Faults{"BackoffByPacketRttByTimestamp",
                             "--set traffic.byte_scale=0.1 --set fabric.loss_rate=0.01 --set "
                             "protocol.timeout_backoff=packet --set protocol.rtt_source=timestamp",
                             "dropped"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Run, SameSeedSameBytesOtherSeedOtherBytes) {
  const std::string run =
      "mrcsim run tb/scenarios/pair.toml --quiet --set fabric.loss_rate=0.002 --set fabric.trim_rate=0.002 ";
  ASSERT_EQ(run_process(run + "--seed 5 --out %D/a").exit_code, 0);
  ASSERT_EQ(run_process(run + "--seed 5 --out %D/b").exit_code, 0);
  ASSERT_EQ(run_process(run + "--seed 6 --out %D/c").exit_code, 0);
  const auto folder = test_folder();
  EXPECT_EQ(read_text(folder / "a" / "result.json"), read_text(folder / "b" / "result.json"));
  EXPECT_EQ(read_text(folder / "a" / "series.json"), read_text(folder / "b" / "series.json"));
  EXPECT_NE(read_text(folder / "a" / "result.json"), read_text(folder / "c" / "result.json"));
}

/// The wheel that runs ahead of the kernel against one process per box, which cannot run ahead of anything.
TEST(Run, WheelAndMethodsGiveTheSameResult) {
  const std::string run =
      "mrcsim run tb/scenarios/ring.toml --quiet --set fabric.loss_rate=0.003 --set fabric.trim_rate=0.003 --set "
      "fabric.ecn_rate=0.01 ";
  ASSERT_EQ(run_process(run + "--out %D/wheel").exit_code, 0);
  ASSERT_EQ(run_process(run + "--set run.quantum_ns=20 --out %D/short").exit_code, 0);
  ASSERT_EQ(run_process(run + "--set run.kernel=methods --out %D/methods").exit_code, 0);
  auto wheel = read_json(test_folder() / "wheel" / "result.json");
  for (const char* other : {"short", "methods"}) {
    auto r = read_json(test_folder() / other / "result.json");
    for (const char* key : {"parameters", "cost"}) {
      wheel.erase(key);
      r.erase(key);
    }
    EXPECT_EQ(r, wheel) << other;
  }
}

/// As far as the whole way over a switch, against a cable's delay.
TEST(Run, NodesThatGoFurtherAheadAreCalledLessOftenAndGiveTheSameResult) {
  const std::string run =
      "mrcsim run tb/scenarios/pair.toml --quiet --set host.payload=reference traffic.byte_scale=0.5 ";
  ASSERT_EQ(run_process(run + "--out %D/far").exit_code, 0);
  ASSERT_EQ(run_process(run + "run.quantum_ns=150 --out %D/near").exit_code, 0);
  auto far = read_json(test_folder() / "far" / "result.json");
  auto near = read_json(test_folder() / "near" / "result.json");
  EXPECT_LT(far["cost"]["kernel_activations"].get<double>(), 0.5 * near["cost"]["kernel_activations"].get<double>());
  EXPECT_EQ(far["cost"]["box_steps"], near["cost"]["box_steps"]);
  for (const char* key : {"parameters", "cost"}) {
    far.erase(key);
    near.erase(key);
  }
  EXPECT_EQ(far, near);
}

/// Long cables have light endpoints take turns, and a capture keeps one order of time.
TEST(Run, LightEndpointsThatTakeTurnsGiveTheResultOfOneOrderOfTime) {
  const std::string run =
      "mrcsim run tb/scenarios/moe_step.toml --quiet --set fidelity=endpoint nic.ports=1 nic.port_gbps=400 "
      "fabric.cable_delay_ns=1000 traffic.byte_scale=0.05 fabric.loss_rate=0.001 fabric.trim_rate=0.001 "
      "fabric.ecn_rate=0.01 ";
  ASSERT_EQ(run_process(run + "--out %D/turns").exit_code, 0);
  ASSERT_EQ(run_process(run + "--pcap %D/all.pcapng --out %D/order").exit_code, 0);
  auto turns = read_json(test_folder() / "turns" / "result.json");
  const auto order = read_json(test_folder() / "order" / "result.json");
  EXPECT_GT(turns["packets"]["retransmitted"].get<int>(), 0);
  turns["parameters"] = order["parameters"];
  EXPECT_EQ(turns, order);
}

TEST(Run, ShadowOverAHundredThousandPackets) {
  const ProcessResult result = run_process(std::string(kPair) + "--shadow srv6_encap@nic0");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto r = result_of_test();
  expect_whole_and_intact(r);
  ASSERT_EQ(r["rtl"].size(), 1U);
  EXPECT_GE(r["rtl"][0]["transactions"], 100'000);
  EXPECT_EQ(r["rtl"][0]["mismatches"], 0);
  EXPECT_EQ(r["rtl"][0]["occupied_cycles"], r["rtl"][0]["systemc_occupied_cycles"]);
  EXPECT_EQ(r["rtl"][0]["latency_cycles"], r["rtl"][0]["systemc_latency_cycles"]);
}

TEST(Run, RtlInThePathDeliversTheSame) {
  ASSERT_EQ(run_process("mrcsim run tb/scenarios/ring.toml --quiet --set fabric.loss_rate=0.001 --out %D/sc").exit_code,
            0);
  ASSERT_EQ(run_process(
                "mrcsim run tb/scenarios/ring.toml --quiet --set fabric.loss_rate=0.001 --rtl srv6_encap --out %D/rtl")
                .exit_code,
            0);
  const auto sc = read_json(test_folder() / "sc" / "result.json");
  const auto rtl = read_json(test_folder() / "rtl" / "result.json");
  expect_whole_and_intact(rtl);
  ASSERT_EQ(rtl["rtl"].size(), 2U);
  EXPECT_NEAR(rtl["goodput_gbps"].get<double>() / sc["goodput_gbps"].get<double>(), 1.0, 0.01);
}

TEST(Run, RtlPutsASegmentRoutingHeaderBeforeEachPacket) {
  const std::string srh =
      "mrcsim run tb/scenarios/ring.toml --quiet --set protocol.encapsulation=srv6_srh fabric.trim_bytes=256 "
      "fabric.loss_rate=0.001 ";
  ASSERT_EQ(run_process(srh + "--out %D/sc").exit_code, 0);
  ASSERT_EQ(run_process(srh + "--rtl srv6_encap --out %D/rtl").exit_code, 0);
  const auto sc = read_json(test_folder() / "sc" / "result.json");
  const auto rtl = read_json(test_folder() / "rtl" / "result.json");
  expect_whole_and_intact(rtl);
  for (const auto& row : rtl["rtl"]) EXPECT_EQ(row["mismatches"], 0);
  EXPECT_EQ(rtl["packets"]["delivered"], sc["packets"]["delivered"]);
  EXPECT_EQ(rtl["packets"]["dropped"], sc["packets"]["dropped"]);
  // The RTL takes other cycles for a packet: a SACK may come a little later, and find one packet more lost.
  EXPECT_NEAR(rtl["packets"]["retransmitted"].get<double>(), sc["packets"]["retransmitted"].get<double>(), 3.0);
}

TEST(Run, RecordsAndDmaInRtlDeliverTheSameUnderLossAndTrim) {
  const std::string scenario =
      "mrcsim run tb/scenarios/ring.toml --quiet --set fabric.loss_rate=0.001 --set fabric.trim_rate=0.002 ";
  ASSERT_EQ(run_process(scenario + "--out %D/sc").exit_code, 0);
  ASSERT_EQ(run_process(scenario + "--rtl pcie_dma,retransmit_buffer --out %D/rtl").exit_code, 0);
  const auto sc = read_json(test_folder() / "sc" / "result.json");
  const auto rtl = read_json(test_folder() / "rtl" / "result.json");
  expect_whole_and_intact(rtl);
  ASSERT_EQ(rtl["rtl"].size(), 4U);
  for (const auto& row : rtl["rtl"]) EXPECT_EQ(row["mismatches"], 0);
  EXPECT_EQ(rtl["packets"], sc["packets"]);
  EXPECT_NEAR(rtl["goodput_gbps"].get<double>() / sc["goodput_gbps"].get<double>(), 1.0, 0.001);
}

#ifdef MRCSIM_WITH_USID_BUG
TEST(Run, BugInTheRtlEndsWithTheFieldsName) {
  const ProcessResult shadow =
      run_process(std::string(MRCSIM_WITH_USID_BUG) +
                  " run tb/scenarios/pair.toml --out %D/out --shadow srv6_encap --seed 3 --set traffic.rows=16");
  EXPECT_EQ(shadow.exit_code, 4);
  EXPECT_NE(shadow.out.find("_with_usid_bug cosim srv6_encap --size default --vectors trace --scenario "
                            "tb/scenarios/pair.toml --set traffic.rows=16 --set seed=3\n"),
            std::string::npos)
      << shadow.out;
  EXPECT_NE(shadow.err.find("mismatch: nic0: srv6_encap of nic0, packet "), std::string::npos) << shadow.err;
  EXPECT_NE(shadow.err.find("outer header usid[1]: expected 0x"), std::string::npos) << shadow.err;
  EXPECT_EQ(result_of_test()["status"], "mismatch");
  EXPECT_GT(result_of_test()["rtl"][0]["mismatches"], 0);
}
TEST(Run, BugInTheRtlSendsPacketsAstrayWhenItDrives) {
  const ProcessResult rtl =
      run_process(std::string(MRCSIM_WITH_USID_BUG) + " run tb/scenarios/pair.toml --out %D/out --rtl srv6_encap@nic0");
  EXPECT_EQ(rtl.exit_code, 4);
  EXPECT_EQ(result_of_test()["packets"]["delivered"], 0) << "the RTL's header alone decides the way";
}
#endif

TEST(Run, StalledRunNamesTheQpAndWhatItWaitsFor) {
  const ProcessResult result = run_process(std::string(kPair) + "--set fabric.loss_rate=1 --set run.stall_us=500");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("stalled: nic0 QP 16 to nic1 waits for "), std::string::npos) << result.err;
  EXPECT_EQ(result_of_test()["status"], "stalled");
}

TEST(Run, RetriesThatEndFailTheMessage) {
  const ProcessResult result =
      run_process(std::string(kPair) +
                  "--set fabric.loss_rate=1 --set protocol.exponential_retries=2 --set protocol.linear_retries=1");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result_of_test()["status"], "failed");
  EXPECT_GT(result_of_test()["messages"]["failed"], 0);
}

TEST(Run, APenaltyOfTheReceiverSavesRepetitions) {
  const std::string slow_writes = std::string(kPair) +
                                  "--set traffic.byte_scale=0.02 --set nic.rx_staging.bytes=16384 "
                                  "--set pcie.credit_return_ns=20000 ";
  ASSERT_EQ(run_process(slow_writes).exit_code, 0);
  const auto without = result_of_test()["packets"]["retransmitted"].get<std::uint64_t>();
  ASSERT_EQ(run_process(slow_writes + "--set protocol.penalty_start_share=0.2 --set protocol.penalty_full_share=0.9")
                .exit_code,
            0);
  EXPECT_LT(result_of_test()["packets"]["retransmitted"].get<std::uint64_t>(), without * 9 / 10);
}

TEST(Run, SoftwareThatPostsTooFewReceivesEndsItsQp) {
  // Several messages arrive before software has looked at the first.
  const std::string slow_host =
      "mrcsim run tb/scenarios/ring.toml --out %D/out --set traffic.byte_scale=0.01 --set host.poll_ns=100000 ";
  ASSERT_EQ(run_process(slow_host).exit_code, 0);
  EXPECT_EQ(run_process(slow_host + "--set protocol.receive_queue_depth=1").exit_code, 5);
  EXPECT_GT(result_of_test()["messages"]["failed"], 0);
}

TEST(Run, ReceiverOfAFailedMessageDoesNotMakeItAStall) {
  const ProcessResult result = run_process(
      "mrcsim run tb/scenarios/ring.toml --out %D/out --set fabric.loss_rate=1 --set protocol.exponential_retries=2 "
      "--set run.stall_us=1000");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result_of_test()["status"], "failed");
}

TEST(Run, SkippedEvsComeBackAfterAFixedTime) {
  // Each packet is marked: all EVs are skipped again and again.
  const ProcessResult result = run_process(
      "mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.byte_scale=0.05 --set fabric.ecn_rate=1 "
      "--set protocol.skip_duration=fixed_time --set protocol.skip_time_ns=5000");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_whole_and_intact(result_of_test());
}

TEST(Run, IdleQpsCostNothing) {
  // With contexts for all: where some may be evicted, boxes ask for those that they need.
  const std::string run =
      "mrcsim run tb/scenarios/many_qps.toml --quiet --set nic.qp_scheduler.context_cache_entries=16384 ";
  ASSERT_EQ(run_process(run + "--out %D/many").exit_code, 0);
  ASSERT_EQ(run_process(run + "--set traffic.qps_per_peer=1024 --out %D/few").exit_code, 0);
  const auto many = read_json(test_folder() / "many" / "result.json");
  const auto few = read_json(test_folder() / "few" / "result.json");
  expect_whole_and_intact(many);
  EXPECT_EQ(many["cost"]["box_steps"], few["cost"]["box_steps"]) << "the same 1,024 QPs are used";
}

TEST(Run, AQpWhoseTurnComesLateGetsItsSackInTime) {
  const std::string generate = "mrcsim trace generate flows --count 256 --bytes 65536 --out %D/flows.csv";
  ASSERT_EQ(run_process(generate).exit_code, 0);
  const std::string run =
      "mrcsim run tb/scenarios/pair.toml --quiet --set host.payload=reference --set traffic.qps_per_peer=256"
      " --set traffic.outstanding_messages=512 --set protocol.path_table_scope=destination"
      " --set traffic.trace=" +
      (test_folder() / "flows.csv").string() + " --out %D/";
  ASSERT_EQ(run_process(run + "asks").exit_code, 0);
  ASSERT_EQ(run_process(run + "waits --set nic.qp_scheduler.ack_request_at_turn_end=false").exit_code, 0);
  const nlohmann::json asks = read_json(test_folder() / "asks/result.json");
  const nlohmann::json waits = read_json(test_folder() / "waits/result.json");
  EXPECT_EQ(asks["packets"]["retransmitted"], 0);
  EXPECT_GT(asks["goodput_gbps"], 720);
  EXPECT_GT(waits["packets"]["retransmitted"], 300);
}

TEST(Run, MissesOfTheContextCacheAreNamed) {
  // 512 QPs in turn over a cache of 16, one work request at a time: every message waits for its context.
  const std::string run =
      "mrcsim run tb/scenarios/many_qps.toml --quiet --set traffic.qps_per_peer=512 --set "
      "traffic.outstanding_messages=1 ";
  ASSERT_EQ(run_process(run + "--set nic.qp_scheduler.context_cache_entries=16 --out %D/small").exit_code, 0);
  ASSERT_EQ(run_process(run + "--set nic.qp_scheduler.context_cache_entries=512 --out %D/large").exit_code, 0);
  const auto lost = [](const char* folder) {
    const auto r = read_json(test_folder() / folder / "result.json");
    for (const auto& limit : r["limits"]) {
      if (limit["cause"] == "qp_scheduler.context_miss") return limit["gbps"].get<double>();
    }
    return 0.0;
  };
  // In the large cache the second half of the messages finds its context.
  EXPECT_GT(lost("small"), 1.5 * lost("large"));
  EXPECT_GT(lost("large"), 0.0);
}

/// 64 QPs send both ways over a NIC that holds the contexts of a few, with losses.
nlohmann::json run_few_contexts(int contexts, const std::string& arguments, const std::string& out) {
  std::string flows;
  for (int i = 0; i < 1'024; ++i) flows += fmt::format("0,{},{},4096,{}\n", i % 2, 1 - i % 2, i);
  return run_flows(flows,
                   fmt::format("fabric.nics = 2\ntransport = \"mrc\"\ntraffic.qps_per_peer = 64\n"
                               "fabric.loss_rate = 0.005\nfabric.trim_rate = 0.005\n"
                               "nic.qp_scheduler.context_cache_entries = {}\n",
                               contexts),
                   arguments, out);
}

TEST(Run, EvictedContextsAreWrittenBackAndReadForWhatComesForThem) {
  constexpr int kMostUnderWay = 2 * 8;  // in the buffers of two NICs
  for (const int contexts : {1, 2, 4, 16}) {
    const auto result = run_few_contexts(contexts, "", fmt::format("out{}", contexts));
    EXPECT_EQ(result["messages"]["completed"], 1'024) << contexts;
    EXPECT_GT(result["packets"]["retransmitted"], 0) << contexts;
    EXPECT_EQ(result["limits"][0]["cause"], "qp_scheduler.context_miss") << contexts;
    const auto& moved = result["contexts"];
    // All that was read is in the cache or has left it again.
    EXPECT_GT(moved["evicted"], 1'024) << contexts;
    EXPECT_NEAR(moved["read"].get<int>(), moved["evicted"].get<int>() + 2 * contexts, kMostUnderWay) << contexts;
    EXPECT_NEAR(moved["written"].get<int>(), moved["evicted"].get<int>(), kMostUnderWay) << contexts;
    std::uint64_t waited = 0;
    for (const auto& buffer : result["buffers"]) {
      if (buffer["name"] == "sack_processor.context_wait") waited += buffer["high_water"].get<std::uint64_t>();
    }
    EXPECT_GT(waited, 0U) << contexts;
  }
}

TEST(Run, EvictedContextsAreTheSameInBothKernels) {
  const auto wheel = run_few_contexts(4, "", "wheel");
  const auto methods = run_few_contexts(4, "--set run.kernel=methods", "methods");
  for (const char* part :
       {"contexts", "packets", "message_time_us", "goodput_gbps", "buffers", "ledger", "limits", "pcie"}) {
    EXPECT_EQ(wheel[part], methods[part]) << part;
  }
}

TEST(Run, ContextsThatHaveRoomAreNeverWritten) {
  EXPECT_FALSE(run_few_contexts(64, "", "out").contains("contexts"));
}

TEST(Run, WhereRecordsAreTakenAtArrivalTheLatencyOfHostMemoryNeedsNone) {
  const auto goodput = [](const std::string& taken, int latency_ns) {
    const std::string folder = fmt::format("{}_{}", taken, latency_ns);
    const auto ran = run_process(fmt::format(
        "mrcsim run tb/scenarios/pair.toml --quiet --set host.payload=reference --set traffic.rows=16 --set "
        "nic.retransmit_buffer.entries=32 --set nic.retransmit_buffer.reserve_record={0} --set "
        "pcie.read_latency_mean_ns={1} --set pcie.read_latency_p99_ns={1} --out %D/{2}",
        taken, latency_ns, folder));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return read_json(test_folder() / folder / "result.json")["goodput_gbps"].get<double>();
  };
  EXPECT_NEAR(goodput("at_arrival", 2000), goodput("at_arrival", 500), 0.04 * goodput("at_arrival", 500));
  EXPECT_LT(goodput("at_request", 2000), 0.8 * goodput("at_request", 500));
}

// Packets that wait for a record must not be in the way of the retransmissions that free one.
TEST(Run, FewRecordsUnderLossDoNotStallWhenTheyAreTakenAtArrival) {
  int run = 0;
  for (const char* settings :
       {"nic.retransmit_buffer.entries=8 --set nic.retransmit_buffer.reserve_record=at_arrival",
        "nic.retransmit_buffer.store=payload --set nic.retransmit_buffer.bytes=32768",
        "nic.retransmit_buffer.entries=8 --set nic.retransmit_buffer.reserve_record=at_arrival --set "
        "nic.retransmit_buffer.store=payload --set nic.retransmit_buffer.bytes=24576 --set "
        "nic.payload_fetch.queue_entries=2",
        "nic.retransmit_buffer.entries=4 --set nic.retransmit_buffer.reserve_record=at_arrival --set "
        "pcie.completion_buffer_bytes=8704"}) {
    const std::string folder = fmt::format("out{}", run++);
    const auto ran = run_process(
        fmt::format("mrcsim run tb/scenarios/pair.toml --quiet --set traffic.rows=4 --set traffic.qps_per_peer=3 --set "
                    "fabric.loss_rate=0.05 --set {} --out %D/{}",
                    settings, folder));
    ASSERT_EQ(ran.exit_code, 0) << settings << ran.err;
    const auto result = read_json(test_folder() / folder / "result.json");
    EXPECT_EQ(result["messages"]["completed"], 4);
    EXPECT_GT(result["packets"]["retransmitted"], 10);
  }
}

TEST(Run, InterruptedRunIsMarkedPartial) {
  // Payload by reference of a hundred times the bytes runs for long enough to be interrupted.
  for (const std::string signal : {"INT", "TERM", "HUP"}) {
    const ProcessResult result = run_process("timeout --preserve-status -s " + signal +
                                             " 1 " MRCSIM_EXECUTABLE " run tb/scenarios/pair.toml --out %D/out" +
                                             signal + " --yes --set traffic.byte_scale=1000");
    EXPECT_EQ(result.exit_code, 130) << signal << result.err;
    EXPECT_EQ(read_json(test_folder() / ("out" + signal) / "result.json")["status"], "partial") << signal;
  }
}

TEST(Run, DefaultFolderIsOverwrittenByTheNextRun) {
  const std::string run = std::string("cd %D && ") + MRCSIM_EXECUTABLE +
                          " run " MRCSIM_SOURCE_DIR "/tb/scenarios/ring.toml --quiet --seed 4";
  EXPECT_EQ(run_process(run).exit_code, 0);
  EXPECT_EQ(run_process(run).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(test_folder() / "out" / "ring-4" / "result.json"));
}

TEST(Run, SummaryPrintsTheSpeed) {
  const ProcessResult result = run_process("mrcsim run tb/scenarios/ring.toml --out %D/out");
  EXPECT_NE(result.out.find(" data packets/s of wall time"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("lost line rate of nic0, by cause"), std::string::npos);
}

}  // namespace
}  // namespace mrc
