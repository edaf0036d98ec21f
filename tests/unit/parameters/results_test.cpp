#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fabric/fault_parameters.h"
#include "results/dumped_member.h"
#include "results/late_faults.h"
#include "results/output_directory.h"
#include "results/output_file.h"
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
  for (const char* key : {"sent", "control", "delivered", "retransmitted", "duplicate", "trimmed", "dropped",
                          "corrupted", "ce_marked", "nacks"}) {
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

FaultConfig late_fault(FaultKind kind, const std::string& where, double at_us) {
  FaultConfig fault;
  fault.kind = kind;
  fault.where = where;
  fault.at_us = at_us;
  return fault;
}

TEST(LateFaults, OneLineNamesThemAndTheEndOfTheRun) {
  ScenarioConfig scenario;
  scenario.faults = {late_fault(FaultKind::link_down, "nic0.port3", 99), late_fault(FaultKind::loss, "nic1", 101),
                     late_fault(FaultKind::link_flap, "nic0.port1", 50)};
  scenario.faults[2].period_us = 10;
  scenario.faults[2].for_us = 5;
  scenario.faults[2].count = 8;
  EXPECT_EQ(
      late_fault_notes(scenario, 100),
      std::vector<std::string>{"the run ended at 100.0 us; never happened: loss of nic1 at 101 us, 2 of 8 outages "
                               "of link_flap of nic0.port1"});
  scenario.faults[2].jitter = 1;  // the outage from 100 us on may be drawn to begin up to 5 us later
  EXPECT_NE(late_fault_notes(scenario, 100)[0].find("at least 2 of 8 outages"), std::string::npos);
  EXPECT_TRUE(late_fault_notes(scenario, 130).empty()) << late_fault_notes(scenario, 130)[0];
}

TEST(LateFaults, ManyAreCounted) {
  ScenarioConfig scenario;
  for (int i = 0; i < 9; ++i) scenario.faults.push_back(late_fault(FaultKind::link_down, "nic0.port3", 100 + i));
  EXPECT_NE(late_fault_notes(scenario, 10).at(0).find("at 103 us, and 5 other faults"), std::string::npos);
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

TEST(SeriesJson, IsWhatTheJsonLibraryWrites) {
  using Group = Series::Group;
  const std::vector<std::vector<double>> values{{0, 0, 0.5, 0.5, 999'999'999'999'999, 1e15, 1e15},
                                                {NAN, NAN, 3, 3, 1e-7, 1.0 / 3, 12}};
  RunResult r;
  EXPECT_EQ(series_json(r),
            R"({"step_us":1.0,"plane_goodput_gbps":[],"buffer_occupancy":{},"ev_states":{},"queue_bytes":{}})"
            "\n");
  const std::string odd_name = "a \"b\" \xff";
  r.series.add(Group::plane_goodput_gbps, "0");
  r.series.add(Group::plane_goodput_gbps, "1");
  r.series.add(Group::buffer_occupancy, "nic0.rx_staging");
  r.series.add(Group::buffer_occupancy, odd_name);
  for (const char* node : {"nic0", "nic1"}) {
    for (const char* state : {"good", "skip"}) r.series.add(Group::ev_states, node, state);
  }
  r.series.add(Group::queue_bytes, "t0.0.port0");
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    const double a = values[0][i];
    const double b = values[1][i];
    r.series.sample({a, b, b, a, a, b, b, a, a});
  }
  nlohmann::ordered_json expected;
  expected["step_us"] = 1.0;
  expected["plane_goodput_gbps"] = {values[0], values[1]};
  expected["buffer_occupancy"]["nic0.rx_staging"] = values[1];
  expected["buffer_occupancy"][odd_name] = values[0];
  expected["ev_states"]["nic0"] = {{"good", values[0]}, {"skip", values[1]}};
  expected["ev_states"]["nic1"] = {{"good", values[1]}, {"skip", values[0]}};
  expected["queue_bytes"]["t0.0.port0"] = values[0];
  EXPECT_EQ(series_json(r), expected.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

TEST(DumpedMember, IsTheTextOfItsValue) {
  const nlohmann::ordered_json inner = {{"b", 1}, {"last", nlohmann::json::array({1, 2})}};
  const nlohmann::ordered_json object = {{"a", "x, y"}, {"inner", inner}, {"b", 2.5}, {"last", inner}};
  const std::string text = object.dump(2) + "\n";
  for (const auto& [name, value] : object.items())
    EXPECT_EQ(nlohmann::ordered_json::parse(dumped_member(text, name)), value) << name;
  EXPECT_EQ(dumped_member(text, "c"), "");
  EXPECT_EQ(dumped_member(text.substr(0, text.size() - 3), "last"), "") << "cut off";
  EXPECT_EQ(dumped_member("", "a"), "");
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
  const auto write = [&](const char* text) { OutputDirectory(folder_.string()).write("result.json", text); };
  write("{\n  \"mrcsim_version\": \"0\"\n}\n");
  EXPECT_EQ(refusal(folder_), "");
  write("{\n  \"other\": \"mrcsim_version\"\n}\n");
  EXPECT_EQ(refusal(folder_),
            folder_.string() + ": contains files that mrcsim did not write; choose another folder with --out");
  EXPECT_EQ(refusal(folder_ / "result.json"), (folder_ / "result.json").string() + ": is a file; --out takes a folder");
}

TEST_F(Output, TheSecondRunIntoAFolderIsRefused) {
  OutputDirectory first(folder_.string());
  EXPECT_EQ(refusal(folder_), folder_.string() + ": another run is writing to it; choose another folder with --out");
}

TEST_F(Output, AFolderThatStaysEmptyGoes) {
  { OutputDirectory out(folder_.string()); }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(Output, WhatAKilledRunLeftBlocksNoFolder) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / ".mrcsim-a1B2c3.tmp") << "half";
  { OutputDirectory(folder_.string()).write("result.json", "{}"); }
  EXPECT_FALSE(fs::exists(folder_ / ".mrcsim-a1B2c3.tmp"));
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

class Files : public Output {
 protected:
  void SetUp() override {
    Output::SetUp();
    fs::create_directories(folder_);
  }
  std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string refusal_of(const fs::path& path, const FileKind& kind) {
    try {
      write_whole_file(path.string(), "new", kind);
    } catch (const OutputError& error) {
      return error.what();
    }
    return "";
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
};

constexpr FileKind kMarked{"a capture", "mark"};

TEST_F(Files, OnlyAFileOfItsOwnKindIsReplaced) {
  const fs::path file = folder_ / "own.toml";
  std::ofstream(file) << "seed = 1\n";
  EXPECT_EQ(refusal_of(file, kMarked), file.string() +
                                           ": exists and is not a capture that mrcsim wrote; choose "
                                           "another name, or remove it");
  EXPECT_EQ(content(file), "seed = 1\n");
  std::ofstream(file) << "begins with a mark\n";
  EXPECT_EQ(refusal_of(file, kMarked), "");
  EXPECT_EQ(content(file), "new");
  EXPECT_EQ(refusal_of(file, {"a trace", ""}), "") << "the same content again";
  std::ofstream(file) << "other";
  EXPECT_EQ(refusal_of(file, {"a trace", ""}), file.string() +
                                                   ": exists and holds something else; choose another "
                                                   "name, or remove it");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, NothingButARegularFileIsReplaced) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(fifo, kMarked), fifo.string() + ": is not a regular file; nothing is written to it");
  EXPECT_EQ(refusal_of("/dev/null", kMarked), "/dev/null: is not a regular file; nothing is written to it");
  EXPECT_EQ(refusal_of(folder_, kMarked), folder_.string() + ": cannot be written: it is a folder");
  EXPECT_NE(refusal_of(folder_ / "absent" / "file", kMarked), "");
  const fs::path target = folder_ / "target";
  std::ofstream(target) << "mark, and what it points to stays";
  fs::create_symlink(target, folder_ / "link");
  EXPECT_EQ(refusal_of(folder_ / "link", kMarked), "");
  EXPECT_EQ(content(target), "mark, and what it points to stays");
}

TEST_F(Files, WithoutCommitNothingIsLeft) {
  { OutputFile(folder_.string() + "/file", kMarked).stream() << "half"; }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(Files, ATemporaryFileGoesWhenItsProcessIsGone) {
  const fs::path stray = folder_ / ".mrcsim-Zz09aa.tmp";
  std::ofstream(stray) << "half";
  OutputFile living(folder_.string() + "/living", kMarked);
  EXPECT_FALSE(fs::exists(stray));
  write_whole_file((folder_ / "other").string(), "whole", kMarked);
  EXPECT_TRUE(fs::exists(living.temporary())) << "somebody holds it";
}

TEST_F(Files, AShortWriteIsAnErrorAndLeavesNothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const fs::path file = folder_ / "large";
  std::string error;
  try {
    write_whole_file(file.string(), std::string(100'000, 'x'), kMarked);
  } catch (const OutputError& e) {
    error = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error, file.string() + ": cannot be written whole: the disk is full, or a limit on file sizes is reached");
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace mrc
