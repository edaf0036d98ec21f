// The latency of a 2-byte write: an account from the parameters that a run agrees with to a nanosecond, one residual
// that was fitted to the published figure, and no effect of that on throughput.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <regex>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr double kPublishedT0Us = 5.09;  ///< ib_write_lat of 2 B, one T0 between

nlohmann::json run_ping_pong(const std::string& settings) {
  const ProcessResult run = run_process("mrcsim run tb/scenarios/ping_pong.toml --quiet --out %D/out " + settings);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return read_json(test_folder() / "out" / "result.json");
}

double sum_of_terms_ns(const nlohmann::json& r) {
  double sum = 0;
  for (const auto& term : r["latency_terms"]) sum += term["ns"].get<double>();
  return sum;
}

struct Setting {
  const char* name;
  const char* settings;
  friend void PrintTo(const Setting& value, std::ostream* out) { *out << value.name; }
};
class LatencyTerms : public ::testing::TestWithParam<Setting> {};

TEST_P(LatencyTerms, SumIsWhatARunMeasures) {
  // With one value of the read latency every message takes the same time; the first two load their QP's context too.
  const auto r = run_ping_pong(std::string("--set pcie.read_latency_p99_ns=1000 ") + GetParam().settings);
  EXPECT_NEAR(r["one_way_us"]["p50"].get<double>() * 1000.0, sum_of_terms_ns(r), 1.0);
  EXPECT_EQ(r["one_way_us"]["count"], 200);
}

INSTANTIATE_TEST_SUITE_P(
    Of, LatencyTerms,
    ::testing::Values(Setting{"Default", ""}, Setting{"PayloadRead", "--set nic.wqe_fetch.inline_bytes=0"},
                      Setting{"SlowCore", "--set nic.core_clock_ghz=0.5"},
                      Setting{"LongPipelines",
                              "--set nic.segmenter.latency_cycles=40 --set nic.psn_tracker.latency_cycles=90"},
                      Setting{"StoreAndForward", "--set fabric.forwarding=store_and_forward"},
                      Setting{"Gen3x8", "--set pcie.generation=3 --set pcie.lanes=8 --set pcie.read_tags=256"},
                      Setting{"SlowHost",
                              "--set host.post_ns=250 --set host.doorbell_ns=700 --set host.poll_ns=900 --set "
                              "pcie.write_latency_ns=123"},
                      Setting{"WqeInDoorbell", "--set nic.doorbell.carries_wqe=true"},
                      Setting{"LongCables", "--set fabric.cable_delay_ns=1000"},
                      Setting{"Encrypted", "--set protocol.encryption.framing=psp --set fabric.trim_bytes=192"},
                      Setting{"NarrowEngines",
                              "--set protocol.encryption.framing=esp --set fabric.trim_bytes=192 --set "
                              "nic.encrypt.width_bits=64 --set nic.decrypt.width_bits=64"},
                      Setting{"EncryptedLinks", "--set fabric.macsec=long_tag --set fabric.macsec_latency_ns=80"},
                      Setting{"SlowPorts", "--set nic.port_gbps=25"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Latency, ResidualIsFittedToThePublishedFigureOverOneT0) {
  const auto r = run_ping_pong("");
  EXPECT_NEAR(sum_of_terms_ns(r) / 1000.0, kPublishedT0Us, 0.001);
  // Drawn read latencies: the mean of 200 one-way times, of which two are the first of their QP.
  EXPECT_NEAR(r["one_way_us"]["mean"].get<double>(), kPublishedT0Us, 0.01 * kPublishedT0Us);
  EXPECT_NEAR(r["simulated_time_us"].get<double>() / 200, r["one_way_us"]["mean"].get<double>(), 0.01)
      << "half a ping-pong";
}

TEST(Latency, EachTermHasARangeAndASource) {
  const auto r = run_ping_pong("");
  std::set<std::string> calibrated;
  for (const auto& term : r["latency_terms"]) {
    EXPECT_LE(term["low_ns"], term["ns"]) << term;
    EXPECT_GE(term["high_ns"], term["ns"]) << term;
    if (term["source"] == "calibrated") calibrated.insert(term["term"]);
    EXPECT_FALSE(term["source"].get<std::string>().empty()) << term;
  }
  EXPECT_EQ(calibrated, (std::set<std::string>{"residual", "switch"}));
}

TEST(Latency, ResidualLeavesThroughputAlone) {
  const std::string run =
      "mrcsim run tb/scenarios/pair.toml --quiet --set host.payload=reference --set traffic.byte_scale=0.1 ";
  ASSERT_EQ(run_process(run + "--out %D/with").exit_code, 0);
  ASSERT_EQ(run_process(run + "--set host.residual_ns=0 --out %D/without").exit_code, 0);
  const auto with = read_json(test_folder() / "with" / "result.json");
  const auto without = read_json(test_folder() / "without" / "result.json");
  EXPECT_EQ(with["goodput_gbps"], without["goodput_gbps"]);
  EXPECT_EQ(with["limits"], without["limits"]);
}

TEST(Latency, CommandPrintsTheTermsOfARun) {
  const auto r = run_ping_pong("");
  const ProcessResult table = run_process("mrcsim latency tb/scenarios/ping_pong.toml");
  ASSERT_EQ(table.exit_code, 0) << table.err;
  for (const auto& term : r["latency_terms"]) {
    const std::string row = fmt::format("{:<16} {:>9.1f}", term["term"].get<std::string>(), term["ns"].get<double>());
    EXPECT_NE(table.out.find(row), std::string::npos) << row << "\n" << table.out;
  }
}

TEST(Latency, TheTableInTheDocumentationIsThatOfTheBoxes) {
  const auto r = run_ping_pong("");
  std::ifstream document(std::string(MRCSIM_SOURCE_DIR) + "/docs/latency.md");
  const std::regex row(R"(\| (\w+) \| ([0-9,.]+) \|.*)");
  std::vector<std::pair<std::string, double>> documented;
  for (std::string line; std::getline(document, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string number = std::regex_replace(match.str(2), std::regex(","), "");
    documented.emplace_back(match.str(1), std::stod(number));
  }
  ASSERT_EQ(documented.size(), r["latency_terms"].size());
  for (std::size_t i = 0; i < documented.size(); ++i) {
    EXPECT_EQ(documented[i].first, r["latency_terms"][i]["term"].get<std::string>());
    EXPECT_NEAR(documented[i].second, r["latency_terms"][i]["ns"].get<double>(), 0.06) << documented[i].first;
  }
}

TEST(Latency, InlinePayloadThatDoesNotFitTheWqeIsRefused) {
  const ProcessResult run =
      run_process("mrcsim run tb/scenarios/ping_pong.toml --out %D/out --set nic.wqe_fetch.inline_bytes=29");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("nic.wqe_fetch.inline_bytes = 29 does not fit a WQE of nic.wqe_fetch.wqe_bytes = 64"),
            std::string::npos)
      << run.err;
}

TEST(Latency, InlineMessagesSurviveLoss) {
  const auto r = run_ping_pong("--set fabric.loss_rate=0.05 --seed 3");
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  EXPECT_GT(r["packets"]["retransmitted"], 0);
}

}  // namespace
}  // namespace mrc
