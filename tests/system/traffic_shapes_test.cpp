// Traffic that other simulators were run on: all-to-alls, incasts, and the bound of `transport = "ideal"`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

class TrafficShapes : public ::testing::Test {
 protected:
  /// Plays `flows` (lines of a flow CSV) over `nics` NICs below one T0, one port of 400 Gb/s each, links of 1 us.
  nlohmann::json run(const std::string& flows, int nics, const std::string& fidelity, const std::string& set = "") {
    const std::string scenario = fmt::format(
        "fidelity = \"{}\"\n[nic]\nports = 1\nport_gbps = 400\n"
        "[fabric]\ncable_delay_ns = 1000\nswitch_latency_ns = 0\nnics = {}\n",
        fidelity, nics);
    return run_flows(flows, scenario, set.empty() ? "" : "--set " + set);
  }
  /// Each node sends to all others, to its successor first.
  static std::string all_to_all(int nodes, int bytes) {
    std::string flows;
    for (int from = 0; from < nodes; ++from) {
      for (int distance = 1; distance < nodes; ++distance)
        flows += fmt::format("0,{},{},{},0\n", from, (from + distance) % nodes, bytes);
    }
    return flows;
  }
  static std::string incast(int senders, int bytes, int count = 1) {
    std::string flows;
    for (int i = 0; i < count; ++i) {
      for (int from = 1; from <= senders; ++from) flows += fmt::format("0,{},0,{},{}\n", from, bytes, i);
    }
    return flows;
  }
};

/// 344 us of serialization; another simulator takes 347.
TEST_F(TrafficShapes, AnAllToAllIsPostedInTheOrderOfTheTrace) {
  const auto light = run(all_to_all(64, 262'144), 64, "endpoint");
  EXPECT_LE(light["simulated_time_us"], 364);
  EXPECT_EQ(light["packets"]["trimmed"], 0);
}

/// What ends first must not depend on the order of equal things: messages posted at one time keep their order.
TEST_F(TrafficShapes, TheOrderOfTheTraceIsTheOrderOfTheWire) {
  run("0,0,3,65536,1\n0,0,1,65536,2\n0,0,2,65536,3\n", 4, "endpoint", "nic.qp_scheduler.quantum_bytes=65536");
  std::ifstream in(test_folder() / "out" / "messages.csv");
  std::vector<std::pair<double, int>> by_completion;
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "from,to,tag,bytes,posted_us,completed_us");
  while (std::getline(in, line)) {
    by_completion.emplace_back(std::stod(line.substr(line.rfind(',') + 1)), std::stoi(line.substr(line.find(',') + 1)));
  }
  ASSERT_EQ(by_completion.size(), 3U);
  std::sort(by_completion.begin(), by_completion.end());
  EXPECT_EQ(by_completion[0].second, 3);
  EXPECT_EQ(by_completion[1].second, 1);
  EXPECT_EQ(by_completion[2].second, 2);
}

TEST_F(TrafficShapes, EveryMessageOfEveryNodeHasATime) {
  for (const std::string set : {"transport=mrc", "transport=rocev2", "transport=ideal"}) {
    const auto result = run(all_to_all(6, 10'000), 6, "endpoint", set);
    EXPECT_EQ(result["all_message_time_us"]["count"], 30) << set;
    EXPECT_GE(result["all_message_time_us"]["max"], result["all_message_time_us"]["p50"]) << set;
    std::ifstream in(test_folder() / "out" / "flows.csv");
    std::string line;
    int flows = -1;
    while (std::getline(in, line)) ++flows;
    EXPECT_EQ(flows, 30) << set;
  }
}

/// Of every trace of the repository and of patterns that meet in one place, for every transport and fidelity.
TEST_F(TrafficShapes, IdealIsALowerBoundForPatterns) {
  std::string linear;
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) linear += from == to ? "" : fmt::format("0,{},{},16384,0\n", from, to);
  }
  std::string ring;
  for (int from = 0; from < 16; ++from) ring += fmt::format("0,{},{},65536,0\n", from, (from + 1) % 16);
  for (const auto& [flows, nics] :
       {std::pair{linear, 8}, {ring, 16}, {incast(7, 50'000, 3), 8}, {std::string("0,0,1,2,0\n"), 2}}) {
    const double bound = run(flows, nics, "endpoint", "transport=ideal")["simulated_time_us"];
    for (const std::string fidelity : {"endpoint", "detailed"}) {
      const double time = run(flows, nics, fidelity)["simulated_time_us"];
      EXPECT_LE(bound, time) << fidelity;
      EXPECT_GE(bound, 0.5 * time) << fidelity << ": a bound, but a loose one";
    }
    EXPECT_LE(bound, run(flows, nics, "endpoint", "transport=rocev2")["simulated_time_us"].get<double>());
  }
}

TEST_F(TrafficShapes, IdealIsALowerBoundForTheTracesOfTheRepository) {
  std::filesystem::create_directories(test_folder());
  const std::string traces = std::string(MRCSIM_SOURCE_DIR) + "/traces/";
  for (const auto& [trace, nics] : {std::pair{"dense_step_4.{rank}.et", 4},
                                    {"moe_step_4.{rank}.et", 4},
                                    {"ping_pong_2B.{rank}.et", 2},
                                    {"ring_all_reduce_2.{rank}.et", 2}}) {
    const auto time = [&, trace = std::string(trace), nics = nics](const std::string& set) {
      std::ofstream(test_folder() / "scenario.toml")
          << "[traffic]\ntrace = \"" << traces << trace << "\"\n[fabric]\nnics = " << nics << "\n";
      const ProcessResult process = run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/out --set " + set);
      EXPECT_EQ(process.exit_code, 0) << process.err;
      return read_json(test_folder() / "out" / "result.json")["simulated_time_us"].get<double>();
    };
    const double bound = time("transport=ideal");
    EXPECT_LE(bound, time("fidelity=detailed")) << trace;
    EXPECT_LE(bound, time("fidelity=endpoint")) << trace;
    EXPECT_LE(bound, time("transport=rocev2")) << trace;
  }
}

}  // namespace
}  // namespace mrc
