// Traffic that other simulators were run on.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

class TrafficShapes : public ::testing::Test {
 protected:
  /// Plays `flows` (lines of a flow CSV) over `nics` light endpoints below one T0, one port of 400 Gb/s each, links of
  /// 1 us.
  static nlohmann::json run(const std::string& flows, int nics) {
    std::filesystem::create_directories(test_folder());
    std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag\n" << flows;
    std::ofstream(test_folder() / "scenario.toml")
        << "fidelity = \"endpoint\"\n[traffic]\ntrace = \"flows.csv\"\n[nic]\nports = 1\nport_gbps = 400\n"
        << "[fabric]\ncable_delay_ns = 1000\nswitch_latency_ns = 0\nnics = " << nics << "\n";
    const ProcessResult process = run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/out");
    EXPECT_EQ(process.exit_code, 0) << process.err;
    return read_json(test_folder() / "out" / "result.json");
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
};

/// 344 us of serialization; another simulator takes 347.
TEST_F(TrafficShapes, AnAllToAllIsPostedInTheOrderOfTheTrace) {
  const auto light = run(all_to_all(64, 262'144), 64);
  EXPECT_LE(light["simulated_time_us"], 364);
  EXPECT_EQ(light["packets"]["trimmed"], 0);
}

}  // namespace
}  // namespace mrc
