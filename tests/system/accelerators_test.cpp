// Accelerators as a user sets them up: several NICs each, several behind one NIC, several jobs, payload of their own.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kRing = "mrcsim run tb/scenarios/ring.toml --quiet --set traffic.byte_scale=0.25 ";
constexpr const char* kMoe = "mrcsim run tb/scenarios/moe_step.toml --quiet ";

nlohmann::json run(const std::string& command, const std::string& name) {
  const ProcessResult result = run_process(fmt::format("{} --out %D/{}", command, name));
  EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
  return read_json(test_folder() / name / "result.json");
}

double step_us(const nlohmann::json& result) {
  EXPECT_EQ(result["status"], "complete");
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
  EXPECT_EQ(result["bytes"]["delivered"], result["bytes"]["offered"]);
  return result["job"]["step_time_us"].get<double>();
}

class TwoNicsARank : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

/// A NIC carries half of each rank's bytes, and the step nears half its time: at most 10 % above the ideal transport's.
TEST_P(TwoNicsARank, CarryHalfEachAndNearlyHalveTheStep) {
  const auto& [fidelity, choice] = GetParam();
  const std::string command = fmt::format(
      "{} --set fabric.nics=4 traffic.nics_per_rank=2 traffic.collective.channels=2 "
      "traffic.collective.all_reduce=ring traffic.nic_choice={} fidelity={}",
      kRing, choice, fidelity);
  const auto two = run(command, "two");
  const double ideal = step_us(run(command + " --set transport=ideal", "ideal"));
  EXPECT_GE(step_us(two), ideal);
  EXPECT_LE(step_us(two), 1.1 * ideal);
  EXPECT_LT(step_us(two), 0.62 * step_us(run(std::string(kRing) + " --set fidelity=" + fidelity, "one")));
  ASSERT_EQ(two["nodes"].size(), 4U);
  for (const auto& node : two["nodes"])
    EXPECT_NEAR(node["tx_gbps"].get<double>(), two["nodes"][0]["tx_gbps"].get<double>(), 1);
}
INSTANTIATE_TEST_SUITE_P(All, TwoNicsARank,
                         ::testing::Combine(::testing::Values("detailed", "endpoint"),
                                            ::testing::Values("channel", "stripe")));

/// The baseline's NICs are a rank's as MRC's are: with one wide port each, two nearly halve the step.
TEST(TwoNicsARank, OfTheBaselineToo) {
  const std::string command = fmt::format(
      "{} --set transport=rocev2 nic.ports=1 nic.port_gbps=800 traffic.collective.channels=2 "
      "traffic.collective.all_reduce=ring",
      kRing);
  const auto two = run(command + " fabric.nics=4 traffic.nics_per_rank=2", "two");
  EXPECT_LT(step_us(two), 0.62 * step_us(run(command, "one")));
  for (const auto& node : two["nodes"])
    EXPECT_NEAR(node["tx_gbps"].get<double>(), two["nodes"][0]["tx_gbps"].get<double>(), 1);
}

/// The NICs of a rank share a wheel; one process per box shows whether one of them ran ahead of the other.
TEST(TwoNicsARank, WheelAndMethodsGiveTheSameResult) {
  const std::string command = fmt::format(
      "{} --set fabric.nics=8 traffic.nics_per_rank=2 fabric.loss_rate=0.002 traffic.nic_choice=channel", kMoe);
  auto wheel = run(command, "wheel");
  auto methods = run(command + " --set run.kernel=methods", "methods");
  for (const char* key : {"parameters", "cost"}) {
    wheel.erase(key);
    methods.erase(key);
  }
  EXPECT_GT(wheel["packets"]["retransmitted"], 0);
  EXPECT_EQ(wheel, methods);
}

TEST(TwoNicsARank, AreAlikeInFidelity) {
  const ProcessResult refused = run_process(
      fmt::format("{} --set fabric.nics=4 traffic.nics_per_rank=2 node.nic1.fidelity=endpoint --out %D/out", kRing));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("nic0 and nic1 belong to rank 0"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
}

TEST(TwoNicsARank, DoNotSitBesideSeveralRanksANic) {
  const ProcessResult refused =
      run_process(fmt::format("{} --set traffic.nics_per_rank=2 traffic.ranks_per_nic=2 --out %D/out", kRing));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("one of them must be 1"), std::string::npos) << refused.err;
}

TEST(TwoNicsARank, OfTooFewNicsNamesTheRankWithoutOne) {
  const ProcessResult refused = run_process(fmt::format("{} --set traffic.nics_per_rank=2 --out %D/out", kRing));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("rank 1 is outside the topology: fabric.nics = 2, ranks 0 … 0"), std::string::npos)
      << refused.err;
}

/// What each NIC of a shared wheel tells lands under its own name.
TEST(TwoNicsARank, AreWatchedEachByItsName) {
  run(fmt::format("{} --set fabric.nics=4 traffic.nics_per_rank=2 traffic.collective.channels=2 "
                  "traffic.byte_scale=0.02 --perfetto %D/timeline.json",
                  kRing),
      "out");
  const auto timeline = read_json(test_folder() / "timeline.json");
  std::set<std::string> processes;
  for (const auto& event : timeline["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "process_name")
      processes.insert(event["args"]["name"].get<std::string>());
  }
  for (const char* name : {"nic0", "nic1", "nic2", "nic3"}) EXPECT_TRUE(processes.contains(name)) << name;
}

/// Half of what a rank of two exchanges stays behind its NIC.
TEST(RanksOfOneNic, UseTheScaleUpFabricOnMrcAsOnIdeal) {
  const std::string command = fmt::format("{} --set fabric.nics=2 traffic.ranks_per_nic=2", kMoe);
  const auto mrc = run(command, "mrc");
  const auto ideal = run(command + " --set transport=ideal", "ideal");
  EXPECT_GE(step_us(mrc), step_us(ideal));
  EXPECT_LE(step_us(mrc), 1.05 * step_us(ideal));
  const auto apart = run(kMoe, "apart");
  EXPECT_LT(mrc["packets"]["sent"].get<double>(), 0.7 * apart["packets"]["sent"].get<double>());
  EXPECT_EQ(mrc["bytes"]["delivered"], apart["bytes"]["delivered"]);
}

/// Two more jobs: one on the job's own NICs, one on NICs of its own below the same switch. The bound of a job's step
/// does not depend on other jobs, because their messages may come later.
TEST(Jobs, ShareNicsAndFabric) {
  const std::string alone = fmt::format("{} --set fabric.nics=6", kMoe);
  const std::string shared =
      alone + " \"traffic.background=../../traces/pair_1GiB.csv@0,../../traces/ring_all_reduce_2.{rank}.et@4\"";
  const auto together = run(shared, "together");
  const auto ideal = run(shared + " --set transport=ideal", "ideal");
  const double alone_us = step_us(run(alone, "alone"));
  EXPECT_GT(step_us(together), 2 * alone_us) << "1 GiB leaves the first NIC before its all-to-alls are through";
  EXPECT_NEAR(step_us(ideal) / alone_us, 1.0, 0.03);
  EXPECT_LE(step_us(ideal), alone_us);
  EXPECT_EQ(together["job"]["ranks"], 4) << "the step is the job's alone";
  EXPECT_GT(together["nodes"][4]["tx_gbps"], 0);
}

TEST(PayloadMemory, OfTheAcceleratorIsFurtherAwayAndWantsMoreTags) {
  const std::string pair =
      "mrcsim run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.05 pcie.read_tags=192 "
      "accelerator.direct_read_ns=600 accelerator.payload_memory=";
  const auto host = run(pair + "host", "host");
  const auto direct = run(pair + "gpu_direct", "direct");
  EXPECT_LT(direct["goodput_gbps"].get<double>(), 0.8 * host["goodput_gbps"].get<double>());
  std::string cause;
  for (const auto& limit : direct["limits"]) {
    if (cause.empty() && limit["cause"] != "framing") cause = limit["cause"];
  }
  EXPECT_EQ(cause, "pcie.read_tags");
}

/// Half a ping-pong: one payload read and one flush more, or two copies more.
TEST(PayloadMemory, AddsItsTermsToAMessage) {
  const std::string ping =
      "mrcsim run tb/scenarios/ping_pong.toml --quiet --set nic.wqe_fetch.inline_bytes=0 "
      "accelerator.direct_read_ns=400 accelerator.direct_flush_ns=800 "
      "accelerator.copy_latency_ns=1500 accelerator.payload_memory=";
  const double host = run(ping + "host", "host")["one_way_us"]["mean"];
  EXPECT_NEAR(run(ping + "gpu_direct", "direct")["one_way_us"]["mean"].get<double>() - host, 1.2, 0.02);
  const double host_step = step_us(run(ping + "host", "host"));
  const double staged_step = step_us(run(ping + "staged", "staged"));
  EXPECT_NEAR((staged_step - host_step) / 200, 2 * 1.5, 0.02) << "200 messages, one after another";
}

/// A job of the rows of one rank with faults (here 64 of its 1,024 ranks): the rank behind a line at a quarter of its
/// rate is late by its messages, and the communication that no computation hides is more than without faults.
TEST(JobAtScale, TheRankBehindASlowLineIsTheLateOne) {
  const std::string job = "mrcsim run tb/scenarios/moe_1024.toml --quiet ";
  const std::string small = "--set traffic.ranks=64 fabric.nics=64 traffic.byte_scale=0.05 ";
  const auto faulty = run(job + small, "faulty");
  ASSERT_GT(step_us(faulty), 0);
  ASSERT_EQ(faulty["job"]["ranks_played"], 64);
  ASSERT_EQ(faulty["job"]["late_ranks"].size(), 8U);
  EXPECT_EQ(faulty["job"]["late_ranks"][0]["rank"], 20);
  EXPECT_NE(faulty["job"]["late_ranks"][0]["late_by"], "computation");
  std::ofstream(test_folder() / "healthy.toml")
      << "fidelity = \"endpoint\"\n[traffic]\ntrace = \"" MRCSIM_SOURCE_DIR
         "/traces/moe_rank.txt\"\nranks = 1024\n[nic]\nports = 8\nport_gbps = 100\n[fabric]\nnics = "
         "1024\nnics_per_t0 = 16\n";
  const auto healthy = run("mrcsim run %D/healthy.toml --quiet " + small, "healthy");
  EXPECT_LT(step_us(healthy), step_us(faulty));
  EXPECT_LT(healthy["job"]["exposed_communication_us"]["max"], faulty["job"]["exposed_communication_us"]["max"]);
  EXPECT_FALSE(healthy["job"].contains("late_ranks"));
}

}  // namespace
}  // namespace mrc
