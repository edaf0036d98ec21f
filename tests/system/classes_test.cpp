// Traffic classes: the urgent class is served as if alone but for the packets that are on a line when it comes, shares
// by weights are kept, and without classes nothing is so. Over light endpoints and detailed NICs.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

/// A full packet with SRv6 on a line of 100 Gb/s: (4096 + 166) * 8 bits.
constexpr double kPacketUs = 4262 * 8 / 100e3;
constexpr int kMegabyte = 1 << 20;

/// Four NICs below one T0 with 8 ports of 100 Gb/s each.
std::string scenario_of(const std::string& fidelity) {
  return "fidelity = \"" + fidelity + "\"\n[host]\npayload = \"reference\"\n[fabric]\nnics = 4\n";
}

/// Lines of a flow CSV with priorities.
std::string flow(double start_us, int from, int to, int bytes, int priority, int count = 1) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += fmt::format("{},{},{},{},{},{}\n", start_us, from, to, bytes, i, priority);
  return lines;
}

nlohmann::json run_classes(const std::string& flows, const std::string& fidelity, const std::string& set,
                           const std::string& out) {
  std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag,priority\n" << flows;
  std::ofstream(test_folder() / "scenario.toml") << "traffic.trace = \"flows.csv\"\n" << scenario_of(fidelity);
  const ProcessResult process = run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/" + out + " " + set);
  EXPECT_EQ(process.exit_code, 0) << process.err;
  return read_json(test_folder() / out / "result.json");
}

/// Time of the one message of a megabyte, from messages.csv of a run: from,to,tag,bytes,posted_us,completed_us.
double time_of_megabyte(const std::string& out) {
  std::istringstream lines(read_text(test_folder() / out / "messages.csv"));
  const std::string bytes = fmt::format(",{},", kMegabyte);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(bytes);
    if (at == std::string::npos) continue;
    const std::string times = line.substr(at + bytes.size());
    return std::stod(times.substr(times.find(',') + 1)) - std::stod(times);
  }
  ADD_FAILURE() << "no message of a megabyte";
  return 0;
}

const nlohmann::json& row(const nlohmann::json& result, int number) {
  for (const auto& row : result["classes"]) {
    if (row["class"] == number) return row;
  }
  ADD_FAILURE() << "no class " << number;
  return result;
}

double time_of(const nlohmann::json& result, int number) {
  return row(result, number)["last_done_us"].get<double>() - row(result, number)["first_posted_us"].get<double>();
}

struct Classes : testing::TestWithParam<const char*> {};

TEST_P(Classes, TheUrgentMessageOfASenderIsAsIfAloneButForPacketsOnTheLines) {
  const std::string urgent = flow(100, 0, 1, kMegabyte, 1);
  const std::string bulk = flow(0, 0, 1, 4 * kMegabyte, 0, 8) + flow(0, 0, 2, 4 * kMegabyte, 0, 8);
  const std::string strict = "--set traffic.classes.count=2";
  const double alone = time_of(run_classes(urgent, GetParam(), strict, "alone"), 1);
  const auto together = run_classes(bulk + urgent, GetParam(), strict, "together");
  // One packet on each port of the NIC, and one on the switch's port behind it. In a detailed NIC also the reads that
  // the PCIe engine has begun when the urgent one comes.
  const double residual = 2 * kPacketUs + (std::string(GetParam()) == "detailed" ? 1.0 : 0.0);
  // Latencies of PCIe reads are drawn.
  EXPECT_GE(time_of(together, 1), alone - 0.5);
  EXPECT_LE(time_of(together, 1), alone + residual);
  EXPECT_EQ(together["status"], "complete");
  // Two bulk flows and the urgent one share the line otherwise.
  run_classes(bulk + urgent, GetParam(), "", "without");
  EXPECT_GT(time_of_megabyte("without"), 1.8 * alone);
}

TEST_P(Classes, TheUrgentMessageOfAnotherSenderPassesTheQueueOfTheSwitch) {
  const std::string urgent = flow(100, 2, 0, kMegabyte, 1);
  const std::string bulk = flow(0, 1, 0, 4 * kMegabyte, 0, 8) + flow(0, 3, 0, 4 * kMegabyte, 0, 8);
  const std::string strict = "--set traffic.classes.count=2";
  const double alone = time_of(run_classes(urgent, GetParam(), strict, "alone"), 1);
  const auto together = run_classes(bulk + urgent, GetParam(), strict, "together");
  EXPECT_LE(time_of(together, 1), alone + 2 * kPacketUs);
  run_classes(bulk + urgent, GetParam(), "", "without");
  EXPECT_GT(time_of_megabyte("without"), 1.8 * alone);
}

TEST_P(Classes, SharesFollowTheWeights) {
  // Both have the same to send: with weights 1 and 3 class 1 is done after B / (3/4 R), both after 2 B / R.
  const std::string flows = flow(0, 0, 1, kMegabyte, 0, 32) + flow(0, 0, 1, kMegabyte, 1, 32);
  const auto result = run_classes(
      flows, GetParam(),
      "--set traffic.classes.count=2 --set traffic.classes.scheduling=weighted --set traffic.classes.weights=1,3",
      "out");
  EXPECT_NEAR(time_of(result, 1) / time_of(result, 0), (4.0 / 3.0) / 2.0, 0.02);
  EXPECT_EQ(result["status"], "complete");
}

TEST_P(Classes, BothKernelModesGiveTheSame) {
  const std::string flows =
      flow(0, 0, 1, kMegabyte, 0, 4) + flow(20, 0, 1, kMegabyte / 4, 1) + flow(5, 2, 1, kMegabyte, 2);
  for (const std::string scheduling : {"strict", "weighted"}) {
    const std::string set = "--set traffic.classes.count=3 --set traffic.classes.scheduling=" + scheduling;
    auto wheel = run_classes(flows, GetParam(), set, "wheel");
    auto methods = run_classes(flows, GetParam(), set + " --set run.kernel=methods", "methods");
    for (auto* result : {&wheel, &methods}) {
      result->erase("cost");
      result->erase("parameters");
    }
    EXPECT_EQ(wheel, methods) << scheduling;
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Classes, testing::Values("endpoint", "detailed"),
                         [](const auto& test) { return std::string(test.param); });

TEST(ClassesInput, IsRefusedInOneLine) {
  const auto refused = [](const std::string& set) {
    return run_process("mrcsim run tb/scenarios/urgent_collective.toml --quiet --out %D/out " + set);
  };
  const ProcessResult kind = refused("--set 'traffic.classes.rules=kind=all_reduse -> 1'");
  EXPECT_EQ(kind.exit_code, 2);
  EXPECT_NE(kind.err.find("nearest: all_reduce"), std::string::npos) << kind.err;
  EXPECT_EQ(refused("--set 'traffic.classes.rules=kind=all_reduce -> 2'").exit_code, 2);
  EXPECT_EQ(refused("--set traffic.classes.weights=1,2,3").exit_code, 2);
  EXPECT_EQ(refused("--set transport=rocev2").exit_code, 2);
  const ProcessResult dscp = refused("--set protocol.dscp_class_step=4");
  EXPECT_EQ(dscp.exit_code, 2);
  EXPECT_NE(dscp.err.find("dscp_class_step"), std::string::npos) << dscp.err;
}

}  // namespace
}  // namespace mrc
