#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/output_directory.h"
#include "results/result_json.h"
#include "results/series.h"
#include "results/summary.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

RunResult some_result() {
  RunResult r;
  r.scenario = "pair";
  r.seed = 3;
  r.messages = {4, 3, 1};
  r.bytes = {4096, 3072, 0};
  r.goodput_gbps = 700.5;
  r.line_rate_gbps = 800;
  r.framing_limit_gbps = 768.8;
  r.node_under_test = "nic0";
  r.packets.sent = 1'234'567;
  r.limits = {{"framing", 60.25}, {"cwnd", 39.25}};
  r.ledger = {{"nic0", "segmenter", 1.0 / 3, 1.0 / 3, 0, {{"cwnd", 1.0 / 3}}}};
  r.buffers = {{"nic0", "rx_staging", "bytes", 1024, 12.5, 20, 30, 0.25}};
  r.cost.wall_seconds = 2;
  return r;
}

TEST(ResultJson, HasEveryStableKeyEvenWhereNothingApplies) {
  const auto j = nlohmann::json::parse(result_json(RunResult{}, ScenarioConfig{}));
  for (const char* key : {"schema_version", "mrcsim_version", "scenario", "seed", "status", "simulated_time_us",
                          "messages", "bytes", "goodput_gbps", "message_time_us", "packets", "nodes", "buffers",
                          "ledger", "limits", "rtl", "events", "sram", "parameters"}) {
    EXPECT_TRUE(j.contains(key)) << key;
  }
  for (const char* key :
       {"sent", "control", "delivered", "retransmitted", "duplicate", "trimmed", "dropped", "corrupted", "ce_marked"}) {
    EXPECT_TRUE(j["packets"].contains(key)) << key;
  }
  for (const char* key : {"buffers", "ledger", "limits", "rtl", "events", "sram", "nodes"})
    EXPECT_TRUE(j[key].is_array()) << key;
  EXPECT_EQ(j["parameters"]["nic.ports"], 8);
  EXPECT_EQ(j["parameters"]["host.payload"], "bytes");
}

TEST(ResultJson, NumbersKeepTheirDigits) {
  const auto j = nlohmann::json::parse(result_json(some_result(), ScenarioConfig{}));
  EXPECT_DOUBLE_EQ(j["ledger"][0]["blocked"]["cwnd"].get<double>(), 1.0 / 3);
  EXPECT_EQ(j["limits"][1]["cause"], "cwnd");
  EXPECT_EQ(j["status"], "complete");
}

TEST(ResultJson, ParametersThatDifferOnANodeAreListed) {
  ScenarioConfig s;
  s.node_override.emplace(1, s.node_default).first->second.pcie.mrrs_bytes = 4096;
  const auto j = nlohmann::json::parse(result_json(RunResult{}, s));
  EXPECT_EQ(j["parameters"]["node.nic1.pcie.mrrs_bytes"], 4096);
  EXPECT_FALSE(j["parameters"].contains("node.nic1.pcie.mps_bytes"));
}

TEST(Summary, ReadsWell) {
  const std::string text = summary(some_result(), false);
  EXPECT_NE(text.find("goodput    700.5 Gb/s from nic0 (line rate 800.0, after framing 768.8)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("1,234,567 sent"), std::string::npos) << text;
  EXPECT_NE(text.find("617,283 data packets/s of wall time (2.00 s)"), std::string::npos) << text;
  EXPECT_NE(text.find("39.25 Gb/s  cwnd"), std::string::npos) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos) << "no colour in a pipe";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
}

TEST(Series, JoinsNeighboursWhenThereAreTooMany) {
  Series series(1.0);
  series.add(Series::Group::plane_goodput_gbps, "0");
  series.add(Series::Group::queue_bytes, "t0.0.port0");
  for (int i = 0; i < 5'000; ++i) series.sample({i % 2 == 0 ? 10.0 : 20.0, static_cast<double>(i)});
  EXPECT_LE(series.channels()[0].values.size(), Series::kMostPoints);
  EXPECT_GE(series.channels()[0].values.size(), Series::kMostPoints / 2);
  EXPECT_GT(series.step_us(), 1.0);
  EXPECT_DOUBLE_EQ(series.channels()[0].values[0], 15.0);
}

class Output : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "output_test";
    fs::remove_all(folder_);
  }
  std::string refusal(const fs::path& path) {
    try {
      OutputDirectory out(path.string());
    } catch (const OutputError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_;
};

TEST_F(Output, OverwritesItsOwnResultsOnly) {
  OutputDirectory first(folder_.string());
  first.write("result.json", "{\"mrcsim_version\": \"0\"}");
  EXPECT_EQ(refusal(folder_), "");
  first.write("result.json", "{}");
  EXPECT_EQ(refusal(folder_),
            folder_.string() + ": contains files that mrcsim did not write; choose another folder with --out");
  EXPECT_EQ(refusal(folder_ / "result.json"), (folder_ / "result.json").string() + ": is a file; --out takes a folder");
}

TEST_F(Output, LeavesNoTemporaryFile) {
  OutputDirectory out(folder_.string());
  out.write("a.txt", "text");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename(), "a.txt");
    ++files;
  }
  EXPECT_EQ(files, 1U);
}

}  // namespace
}  // namespace mrc
