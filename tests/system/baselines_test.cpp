// The baselines on whole runs: what RoCEv2 does with one path, losses and congestion, and that a run is repeatable.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "mrcsim_process.h"

namespace mrc {
namespace {

class Baselines : public ::testing::Test {
 protected:
  /// Runs `flows` (lines of a flow CSV) over `nics` NICs below T0s of eight, one port of 100 Gb/s each.
  nlohmann::json run(const std::string& flows, int nics, const std::string& set, const std::string& out = "out") {
    const std::string scenario = "transport = \"rocev2\"\n[nic]\nports = 1\n[fabric]\nnics_per_t0 = 8\nnics = ";
    return run_flows(flows, scenario + std::to_string(nics) + "\n", set.empty() ? "" : "--set " + set, out);
  }
};

const std::string pair_flow = "0,0,1,4194304,0\n";

std::string incast() {
  std::string flows;
  for (int from : {0, 1, 2, 3, 4, 5, 6}) flows += "0," + std::to_string(from) + ",7,2097152,0\n";
  return flows;
}

TEST_F(Baselines, OneQpFillsOnePortAndNoMore) {
  const auto one = run("0,0,1,16777216,0\n", 2, "");
  EXPECT_GT(one["goodput_gbps"], 0.95 * 4096.0 / 4198 * 100);
  const auto four_ports = run("0,0,1,16777216,0\n", 2, "nic.ports=4");
  EXPECT_LT(four_ports["goodput_gbps"], 100);
}

TEST_F(Baselines, GoBackNSendsAgainWhatCameBehindAGap) {
  const auto result = run(pair_flow, 2, "fabric.loss_rate=0.01");
  EXPECT_EQ(result["bytes"]["delivered"], 4194304);
  EXPECT_GT(result["rocev2"]["naks"].get<int>() + result["rocev2"]["timeouts"].get<int>(), 0);
  // More goes twice than was lost: all that was under way behind the gap.
  EXPECT_GT(result["packets"]["retransmitted"], result["packets"]["dropped"]);
}

TEST_F(Baselines, IncastIsMarkedPausedAndLosesNothing) {
  const auto result = run(incast(), 8, "");
  EXPECT_EQ(result["packets"]["dropped"], 0);
  EXPECT_GT(result["rocev2"]["cnps"].get<int>(), 0);
  const auto only_pfc = run(incast(), 8, "rocev2.dcqcn=false");
  EXPECT_EQ(only_pfc["packets"]["dropped"], 0);
  EXPECT_EQ(only_pfc["rocev2"]["cnps"], 0);
  EXPECT_GT(only_pfc["rocev2"]["pauses"], 0);
  EXPECT_GT(only_pfc["rocev2"]["paused_us"], 0);
}

TEST_F(Baselines, WithoutPfcAndDcqcnAFullQueueDrops) {
  const auto result = run(incast(), 8, "rocev2.dcqcn=false rocev2.pfc=false fabric.queue_bytes=262144");
  EXPECT_GT(result["packets"]["dropped"], 0);
  EXPECT_EQ(result["rocev2"]["pauses"], 0);
  EXPECT_EQ(result["bytes"]["delivered"], 7 * 2097152);
}

TEST_F(Baselines, CollectivesThatWaitForReceivesRunOnIt) {
  const ProcessResult process = run_process(
      "mrcsim run tb/scenarios/ring.toml --quiet --out %D/ring --set transport=rocev2 traffic.qps_per_peer=4");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  const auto result = read_json(test_folder() / "ring" / "result.json");
  EXPECT_EQ(result["messages"]["completed"], result["messages"]["count"]);
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
}

TEST_F(Baselines, SameSeedSameResult) {
  const std::string four = "traffic.qps_per_peer=4";
  EXPECT_EQ(run(incast(), 8, four, "first").dump(), run(incast(), 8, four, "second").dump());
}

TEST_F(Baselines, ObliviousSprayNeverSkips) {
  const std::string marked = "transport=mrc fidelity=endpoint fabric.ecn_rate=0.2 nic.ports=4";
  const auto most_skipped = [&](const std::string& out) {
    const auto series = read_json(test_folder() / out / "series.json");
    double most = 0;
    for (const auto& value : series["ev_states"]["nic0"]["skip"]) most = std::max(most, value.get<double>());
    return most;
  };
  run(pair_flow, 2, marked, "adaptive");
  run(pair_flow, 2, marked + " protocol.path_feedback=oblivious", "oblivious");
  EXPECT_GT(most_skipped("adaptive"), 0);
  EXPECT_EQ(most_skipped("oblivious"), 0);
}

}  // namespace
}  // namespace mrc
