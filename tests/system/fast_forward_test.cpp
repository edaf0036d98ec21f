// Runs in which steady time is skipped: they give what the same runs give in full, and nothing is skipped where traffic
// changes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPercent = "run.fast_forward_percent=1";

class FastForward : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(test_folder());
    fs::create_directories(test_folder());
  }
  static nlohmann::json run(const std::string& scenario, const std::string& settings, const std::string& out) {
    const ProcessResult done = run_process(
        fmt::format("mrcsim run {} --set host.payload=reference {} --quiet --out %D/{}", scenario, settings, out));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return read_json(test_folder() / out / "result.json");
  }
  /// A scenario of these rows of a flow CSV, with what else it has.
  static std::string write_flows(const std::string& flows, const std::string& more = "") {
    std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag\n" << flows;
    std::ofstream(test_folder() / "case.toml") << "seed = 1\n[traffic]\ntrace = \"flows.csv\"\n[fabric]\nnics = 8\n"
                                               << more;
    return (test_folder() / "case.toml").string();
  }
  static std::map<std::string, double> limits(const nlohmann::json& result) {
    std::map<std::string, double> gbps;
    for (const auto& limit : result["limits"]) gbps[limit["cause"]] = limit["gbps"];
    return gbps;
  }
  static void expect_near(const nlohmann::json& fast, const nlohmann::json& full, const std::string& pointer,
                          double percent) {
    const nlohmann::json::json_pointer at(pointer);
    EXPECT_NEAR(fast[at].get<double>() / full[at].get<double>(), 1, percent / 100) << pointer;
  }
  static void expect_same(const nlohmann::json& fast, const nlohmann::json& full) {
    for (const char* figure : {"/simulated_time_us", "/goodput_gbps", "/message_time_us/mean", "/message_time_us/max",
                               "/all_message_time_us/p50", "/packets/sent", "/packets/delivered", "/packets/control",
                               "/job/step_time_us", "/nodes/0/tx_gbps", "/nodes/1/rx_gbps"})
      expect_near(fast, full, figure, 1);
    EXPECT_EQ(fast["bytes"], full["bytes"]);
    EXPECT_EQ(fast["messages"], full["messages"]);
    const double line_rate = full["line_rate_gbps"];
    std::map<std::string, double> of_full = limits(full);
    double sum = fast["goodput_gbps"];
    for (const auto& [cause, gbps] : limits(fast)) {
      sum += gbps;
      EXPECT_NEAR(gbps, of_full[cause], 0.01 * line_rate) << cause;
    }
    EXPECT_NEAR(sum, line_rate, 0.01);
    for (const auto& account : fast["accounts"])
      EXPECT_EQ(account["in"],
                account["out"].get<double>() + account["lost"].get<double>() + account["held"].get<double>());
  }
};

TEST_F(FastForward, ARingInStepsIsThatOfTheFullRun) {
  const std::string ring = "tb/scenarios/long_all_reduce.toml";
  const std::string small = "traffic.byte_scale=300 traffic.ranks=4 fabric.nics=4 ";
  const auto full = run(ring, small + "run.fast_forward_percent=0", "full");
  const auto fast = run(ring, small + kPercent, "fast");
  EXPECT_FALSE(full.contains("fast_forward"));
  EXPECT_EQ(fast["fast_forward"]["skips"], 6) << "one in each step of the ring";
  EXPECT_GT(fast["fast_forward"]["skipped_us"].get<double>(), 0.5 * fast["simulated_time_us"].get<double>());
  EXPECT_LT(fast["cost"]["box_steps"].get<double>(), 0.5 * full["cost"]["box_steps"].get<double>());
  expect_same(fast, full);
  const auto& collective = fast["job"]["collectives"][0];
  EXPECT_NEAR(collective["bus_bandwidth_gbps"].get<double>() /
                  full["job"]["collectives"][0]["bus_bandwidth_gbps"].get<double>(),
              1, 0.01);
}

TEST_F(FastForward, SeveralMessagesOfANodeGoOnTogether) {
  const std::string scenario =
      write_flows("0,0,1,300000000,1\n0,0,2,250000000,2\n0,3,2,150000000,3\n1500,4,5,200000000,4\n");
  const auto full = run(scenario, "run.fast_forward_percent=0", "full");
  const auto fast = run(scenario, kPercent, "fast");
  EXPECT_GE(fast["fast_forward"]["skips"], 1);
  expect_same(fast, full);
  // What starts by time does so at its time.
  std::ifstream rows(test_folder() / "fast" / "messages.csv");
  std::string all((std::istreambuf_iterator<char>(rows)), {});
  EXPECT_NE(all.find("4,5,4,200000000,1500.000000,"), std::string::npos) << all;
}

TEST_F(FastForward, ANodeThatBeginsLaterIsMeasuredFromThere) {
  const std::string scenario = write_flows("0,0,1,200000000,1\n1500,4,5,150000000,4\n");
  const std::string under_test = "run.node_under_test=nic4 ";
  const auto full = run(scenario, under_test + "run.fast_forward_percent=0", "full");
  const auto fast = run(scenario, under_test + kPercent, "fast");
  EXPECT_GE(fast["fast_forward"]["skips"], 2) << "one before it begins";
  expect_same(fast, full);
}

TEST_F(FastForward, WheelAndMethodsSkipTheSame) {
  const std::string scenario = write_flows("0,0,1,60000000,1\n");
  auto wheel = run(scenario, kPercent, "wheel");
  auto methods = run(scenario, std::string(kPercent) + " run.kernel=methods", "methods");
  EXPECT_EQ(wheel["fast_forward"]["skips"], 1);
  for (const char* differs : {"cost", "parameters"}) {
    wheel.erase(differs);
    methods.erase(differs);
  }
  EXPECT_EQ(wheel, methods);
}

TEST_F(FastForward, NothingBeforeTheLastFaultIsOver) {
  const std::string scenario =
      write_flows("0,0,1,400000000,1\n",
                  "[[fault]]\nat_us = 1500\nfor_us = 500\nkind = \"link_rate\"\nwhere = \"nic0.port0\"\nshare = 0.5\n");
  const auto full = run(scenario, "run.fast_forward_percent=0", "full");
  const auto fast = run(scenario, kPercent, "fast");
  EXPECT_GE(fast["fast_forward"]["skips"], 1);
  EXPECT_LT(fast["fast_forward"]["skipped_us"].get<double>(), fast["simulated_time_us"].get<double>() - 2000);
  EXPECT_EQ(fast["events"], full["events"]);
  expect_near(fast, full, "/simulated_time_us", 1);
}

TEST_F(FastForward, NothingWhileAFaultGoesOnByChance) {
  const std::string loss = "[[fault]]\nat_us = 10\nkind = \"loss\"\nwhere = \"nic0\"\nprobability = 1e-6\n";
  const std::string flow = "0,0,1,60000000,1\n";
  EXPECT_EQ(run(write_flows(flow, loss), kPercent, "for_ever")["fast_forward"]["skips"], 0);
  EXPECT_EQ(run(write_flows(flow, loss + "for_us = 20\n"), kPercent, "ends")["fast_forward"]["skips"], 1);
}

TEST_F(FastForward, NothingWhereRatesOfMessagesChange) {
  const std::string scenario = write_flows("0,0,1,50000000,1\n0,2,1,50000000,2\n0,3,1,50000000,3\n0,4,1,50000000,4\n");
  auto full = run(scenario, "run.fast_forward_percent=0", "full");
  auto fast = run(scenario, kPercent, "fast");
  EXPECT_EQ(fast["fast_forward"]["skips"], 0);
  const ProcessResult shown =
      run_process(fmt::format("mrcsim run {} --set host.payload=reference {} --out %D/shown", scenario, kPercent));
  EXPECT_NE(shown.out.find("no time was skipped: no phase was long and steady enough for 1 %"), std::string::npos)
      << shown.out;
  fast.erase("fast_forward");
  full.erase("parameters");
  fast.erase("parameters");
  EXPECT_EQ(full, fast);
}

TEST_F(FastForward, ItIsRefusedWhereItWouldSayTooMuch) {
  const std::string scenario = write_flows("0,0,1,1000000,1\n");
  const std::map<std::string, std::string> refused{
      {"run.stop_within_percent=1", "run.fast_forward_percent and run.stop_within_percent: "},
      {"run.message_causes=true", "run.fast_forward_percent and run.message_causes: "},
      {"traffic.split_over_qps=true", "run.fast_forward_percent and traffic.split_over_qps: "},
      {"fabric.loss_rate=0.001", "run.fast_forward_percent and fabric.loss_rate: "},
      {"fabric.bit_error_rate=1e-6", "run.fast_forward_percent and fabric.bit_error_rate: "},
      {"node.nic1.pcie.lost_completion_rate=0.01", "run.fast_forward_percent and pcie.lost_completion_rate: "},
      {"--pcap %D/p.pcap", "run.fast_forward_percent: not with --pcap; allowed: no packet capture"},
      {"--waves %D/w.fst", "run.fast_forward_percent: not with --waves or --perfetto; allowed: neither"},
  };
  for (const auto& [settings, message] : refused) {
    const ProcessResult done = run_process(fmt::format("mrcsim run {} --set {} {}{} --quiet --out %D/refused", scenario,
                                                       kPercent, settings.starts_with("--") ? "" : "--set ", settings));
    EXPECT_EQ(done.exit_code, 2) << settings;
    EXPECT_NE(done.err.find(message), std::string::npos) << settings << ": " << done.err;
    EXPECT_FALSE(fs::exists(test_folder() / "refused")) << settings;
  }
}

}  // namespace
}  // namespace mrc
