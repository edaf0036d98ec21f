// Whole runs with PCIe in trains and TLP by TLP agree, and faults on the link reach nobody's memory.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <ostream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

Json run(const std::string& scenario, const std::string& settings, int exit_code = 0) {
  const ProcessResult result =
      run_process(fmt::format("mrcsim run tb/scenarios/{}.toml --quiet --out %D/out {}", scenario, settings));
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return read_json(test_folder() / "out" / "result.json");
}

struct Setting {
  const char* name;
  const char* scenario;
  const char* settings;
  friend void PrintTo(const Setting& value, std::ostream* out) { *out << value.name; }
};
class SteppingOfRuns : public ::testing::TestWithParam<Setting> {};

TEST_P(SteppingOfRuns, TrainsAgreeWithTlps) {
  const Setting& s = GetParam();
  const Json train = run(s.scenario, s.settings);
  const Json tlp = run(s.scenario, std::string(s.settings) + " --set pcie.stepping=tlp");
  const auto agree = [&](const std::string& what, double a, double b) {
    fmt::print("{:<24} {:<10} {:12.4f} in trains, {:12.4f} by TLP, {:+.3f} %\n", s.name, what, a, b, 100 * (a / b - 1));
    EXPECT_NEAR(a / b, 1.0, 0.005) << what;
  };
  agree("goodput", train["goodput_gbps"], tlp["goodput_gbps"]);
  const Json a = train["message_time_us"];
  const Json b = tlp["message_time_us"];
  for (const char* key : {"mean", "p50", "p99"}) agree(key, a[key], b[key]);
}

// Staging takes all that the scarce credits hold back: refusals and their retransmissions would answer a nanosecond
// with another order of packets.
#define MRC_STAGING " --set nic.rx_staging.bytes=16MiB --set nic.dma_write.queue_entries=8192"

INSTANTIATE_TEST_SUITE_P(
    Of, SteppingOfRuns,
    ::testing::Values(
        Setting{"Pair", "pair", "--set traffic.byte_scale=0.2"},
        Setting{"PairOffTheAlignment", "pair", "--set traffic.byte_scale=0.2 --set traffic.offset_bytes=64"},
        Setting{"FewTags", "pair", "--set traffic.byte_scale=0.05 --set pcie.read_tags=48"},
        Setting{"LongLatency", "pair",
                "--set traffic.byte_scale=0.05 --set pcie.read_latency_mean_ns=4000 --set "
                "pcie.read_latency_p99_ns=9000 --set pcie.read_tags=256"},
        Setting{"PostedHeaders16", "pair",
                "--set traffic.byte_scale=0.02 --set node.nic1.pcie.posted_header_credits=16"},
        Setting{"PostedHeaders32", "pair",
                "--set traffic.byte_scale=0.05 --set node.nic1.pcie.posted_header_credits=32" MRC_STAGING},
        Setting{"PostedData64", "pair", "--set traffic.byte_scale=0.02 --set node.nic1.pcie.posted_data_credits=64"},
        Setting{"NonPosted16", "pair", "--set traffic.byte_scale=0.05 --set pcie.non_posted_header_credits=16"},
        Setting{"TwoWays", "ring", "--set traffic.byte_scale=0.2 --set host.payload=reference"},
        Setting{"TwoWaysFewTags", "ring", "--set traffic.byte_scale=0.1 --set pcie.read_tags=64"},
        Setting{"TwoWaysPostedHeaders64", "ring",
                "--set traffic.byte_scale=0.2 --set host.payload=reference "
                "--set pcie.posted_header_credits=64" MRC_STAGING}),
    [](const auto& test) { return test.param.name; });

void expect_intact(const Json& result) {
  EXPECT_EQ(result["status"], "complete");
  EXPECT_EQ(result["messages"]["completed"], result["messages"]["count"]);
  EXPECT_EQ(result["bytes"]["delivered"], result["bytes"]["offered"]);
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
}

Json pcie_of(const Json& result, const std::string& node) {
  for (const Json& row : result["pcie"]) {
    if (row["node"] == node) return row;
  }
  return {};
}

// Memory is compared byte by byte: a completion that was delivered twice or never would show.
TEST(PcieFaults, DuplicatedPoisonedAndLostCompletionsReachNobodysMemory) {
  for (const char* stepping : {"train", "tlp"}) {
    const Json result = run("pair", fmt::format("--set traffic.byte_scale=0.05 --set pcie.stepping={} "
                                                "--set pcie.duplicate_completion_rate=0.01 "
                                                "--set pcie.poisoned_completion_rate=0.001 "
                                                "--set pcie.lost_completion_rate=0.0001",
                                                stepping));
    expect_intact(result);
    const Json link = pcie_of(result, "nic0");
    EXPECT_GT(link["duplicated_completions"], 1000);
    EXPECT_GT(link["unexpected_completions"], 1000);
    EXPECT_GT(link["poisoned_completions"], 100);
    EXPECT_GT(link["completion_timeouts"], 0);
    EXPECT_GT(link["retried_requests"], 100);
  }
}

TEST(PcieFaults, ALinkThatLosesEachAnswerStalls) {
  // Half of all completions: no 4 KiB read ever comes whole within its timeout often enough to end the run in time.
  const ProcessResult result = run_process(
      "mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.byte_scale=0.01 "
      "--set pcie.lost_completion_rate=0.5 --set pcie.completion_timeout_us=10000 --set run.stall_us=2000");
  EXPECT_EQ(result.exit_code, 3) << result.err;
}

TEST(AddressTranslation, IsNamedByTheLedgerAtTheSenderAndAtTheReceiver) {
  const auto top = [](const Json& result) {
    for (const Json& limit : result["limits"]) {
      if (limit["cause"] != "framing") return limit["cause"].get<std::string>();
    }
    return std::string();
  };
  const std::string few = "pcie.address_translation.entries=16 ";
  const Json sender = run("pair", "--set traffic.byte_scale=0.05 --set host.payload=reference --set node.nic0." + few +
                                      "--set node.nic0.pcie.address_translation.outstanding_misses=2");
  EXPECT_EQ(top(sender), "pcie.address_translation") << sender["limits"].dump();
  EXPECT_GT(pcie_of(sender, "nic0")["translation_misses"], 1000);
  const Json receiver = run("pair", "--set traffic.byte_scale=0.05 --set host.payload=reference --set node.nic1." +
                                        few + "--set node.nic1.pcie.address_translation.outstanding_misses=2");
  EXPECT_EQ(top(receiver), "receiver.pcie.address_translation") << receiver["limits"].dump();
  // Large pages: all of the buffers' translations fit, and nothing is lost.
  const Json fits = run("pair",
                        "--set traffic.byte_scale=0.05 --set host.payload=reference "
                        "--set pcie.address_translation.entries=64 "
                        "--set pcie.address_translation.page_bytes=2097152");
  const Json off = run("pair", "--set traffic.byte_scale=0.05 --set host.payload=reference");
  EXPECT_NEAR(fits["goodput_gbps"].get<double>() / off["goodput_gbps"].get<double>(), 1.0, 0.015)
      << "first touches miss";
}

TEST(CompletionCredits, AreNamed) {
  const Json result = run("pair",
                          "--set traffic.byte_scale=0.05 --set host.payload=reference "
                          "--set node.nic0.pcie.completion_header_credits=64");
  for (const Json& limit : result["limits"]) {
    if (limit["cause"] == "framing") continue;
    EXPECT_EQ(limit["cause"], "pcie.completion_credits") << result["limits"].dump();
    break;
  }
}

}  // namespace
}  // namespace mrc
