// Tenants: jobs with QPs, keys and limits of their own, and what each costs the others.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr int kMegabyte = 1 << 20;

std::string flows(int from, int to, int bytes, int count, double start_us = 0) {
  std::string lines = "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < count; ++i) lines += fmt::format("{},{},{},{},{}\n", start_us, from, to, bytes, i);
  return lines;
}

/// Two jobs whose ranks 0 and 1 are on the same two NICs. Returns the process; result.json is in `out`.
ProcessResult run_tenants(const std::string& first, const std::string& second, const std::string& fidelity,
                          const std::string& set, const std::string& out = "out") {
  std::ofstream(test_folder() / "first.csv") << first;
  std::ofstream(test_folder() / "second.csv") << second;
  std::ofstream(test_folder() / "scenario.toml")
      << "fidelity = \"" + fidelity + "\"\n[traffic]\ntrace = \"first.csv\"\nbackground = \"second.csv@0\"\n"
      << "[traffic.tenants]\nseparate = true\n[fabric]\nnics = 2\n";
  return run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/" + out + " " + set);
}

struct Tenants : testing::TestWithParam<const char*> {};

TEST_P(Tenants, AKeyDoesNotOpenAnothersMemory) {
  // Job 1 names job 0's region and key at the same NIC: its QP is of another protection domain.
  const ProcessResult process = run_tenants(flows(0, 1, kMegabyte, 8), flows(0, 1, kMegabyte, 4, 1), GetParam(),
                                            "--set traffic.tenants.intruder=1");
  EXPECT_EQ(process.exit_code, 5) << process.err;
  const auto result = result_of();
  ASSERT_EQ(result["tenants"].size(), 2U);
  EXPECT_EQ(result["tenants"][0]["completed"], 8);
  EXPECT_EQ(result["tenants"][0]["failed"], 0);
  EXPECT_EQ(result["tenants"][1]["completed"], 0);
  EXPECT_EQ(result["tenants"][1]["failed"], 4);
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
  EXPECT_EQ(result["bytes"]["delivered"], 8 * kMegabyte) << "nothing of the intruder is in memory";
}

TEST_P(Tenants, WithKeysOfTheirOwnBothAreDone) {
  const ProcessResult process = run_tenants(flows(0, 1, kMegabyte, 8), flows(0, 1, kMegabyte, 4, 1), GetParam(), "");
  EXPECT_EQ(process.exit_code, 0) << process.err;
  EXPECT_EQ(result_of()["tenants"][1]["completed"], 4);
}

TEST_P(Tenants, ARateLimitIsKept) {
  const ProcessResult process = run_tenants(flows(0, 1, kMegabyte, 64), flows(0, 1, kMegabyte, 64), GetParam(),
                                            "--set traffic.tenants.rate_limits_gbps=0,100");
  EXPECT_EQ(process.exit_code, 0) << process.err;
  const auto result = result_of();
  EXPECT_NEAR(result["tenants"][1]["goodput_gbps"].get<double>(), 100, 1);
  // The other has what is left of the line, which two would share evenly without.
  EXPECT_GT(result["tenants"][0]["goodput_gbps"].get<double>(), 600);
}

TEST_P(Tenants, IsolationComparesEachAloneWithAllTogether) {
  run_tenants(flows(0, 1, kMegabyte, 32), flows(0, 1, kMegabyte, 32), GetParam(), "");
  const ProcessResult process =
      run_process("mrcsim isolation %D/scenario.toml --db %D/study.sqlite --format json --quiet");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  const auto answer = nlohmann::json::parse(process.out);
  ASSERT_EQ(answer["tenants"].size(), 2U);
  for (const auto& tenant : answer["tenants"]) {
    // Two alike on one line: each takes twice as long.
    EXPECT_NEAR(tenant["slowdown"]["mean"].get<double>(), 2, 0.15) << tenant;
    EXPECT_GE(tenant["worst_message_slowdown"]["mean"].get<double>(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Tenants, testing::Values("endpoint", "detailed"),
                         [](const auto& test) { return std::string(test.param); });

TEST(TenantsInput, IsolationNeedsTenants) {
  const ProcessResult process = run_process("mrcsim isolation tb/scenarios/pair.toml --db %D/study.sqlite --quiet");
  EXPECT_EQ(process.exit_code, 2);
  EXPECT_NE(process.err.find("traffic.tenants.separate"), std::string::npos) << process.err;
}

}  // namespace
}  // namespace mrc
