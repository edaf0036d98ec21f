// Sweeps: every point and seed once, kept through kill -9 and Ctrl-C, and one bad run loses no other.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "mrcsim_process.h"
#include "study/axis.h"
#include "study/design.h"
#include "study/sqlite.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuick = "tb/scenarios/pair.toml --set traffic.byte_scale=0.02 --set host.payload=reference";

fs::path fresh_folder() {
  fs::remove_all(test_folder());
  return test_folder();
}

std::vector<std::string> values_of(const std::string& text) {
  return parse_axis(text).values;
}

TEST(Axis, ListsAndRanges) {
  using Values = std::vector<std::string>;
  EXPECT_EQ(values_of("pcie.read_tags=8,4,8"), (Values{"8", "4"}));
  EXPECT_EQ(values_of("pcie.read_tags=8..64:x2"), (Values{"8", "16", "32", "64"}));
  EXPECT_EQ(values_of("pcie.read_tags=8..70:x2"), (Values{"8", "16", "32", "64", "70"})) << "both ends belong to it";
  EXPECT_EQ(values_of("pcie.read_tags=8..17:+4"), (Values{"8", "12", "16", "17"}));
  EXPECT_EQ(values_of("fabric.loss_rate=0.1..0.3:+0.1"), (Values{"0.1", "0.2", "0.3"}));
  EXPECT_EQ(values_of("pcie.read_tags=1..4:x1.3"), (Values{"1", "2", "3", "4"})) << "whole numbers, each once";
  EXPECT_EQ(values_of("nic.rx_staging.bytes=4KiB..16KiB:+4KiB"), (Values{"4096", "8192", "12288", "16384"}));
  EXPECT_EQ(values_of("traffic.trace=../a.csv,b.csv"), (Values{"../a.csv", "b.csv"}));
  EXPECT_EQ(values_of("nic.retransmit_buffer.store=payload"), (Values{"payload"}));
  EXPECT_THROW(parse_axis("seed=1,2"), ParameterError);
  EXPECT_THROW(parse_axis("host.payload=bytes..reference:+1"), ParameterError);
  EXPECT_THROW(parse_axis("node.nic1.fabric.nics=2,3"), ParameterError);
}

TEST(Design, LatinHypercubeUsesEachStratumOnce) {
  const std::vector<Axis> axes{parse_axis("fabric.loss_rate=0..1"), parse_axis("pcie.read_tags=1..4096"),
                               parse_axis("nic.ports=1,2,4,8")};
  constexpr std::uint32_t points = 40;
  const auto settings = latin_hypercube(axes, points, 7);
  std::set<int> loss;
  std::set<int> tags;
  std::map<std::string, int> ports;
  for (const Settings& point : settings) {
    loss.insert(static_cast<int>(std::stod(point[0].second) * points));
    tags.insert(static_cast<int>((std::stod(point[1].second) - 1) / 4095 * points));
    ++ports[point[2].second];
  }
  EXPECT_EQ(loss.size(), points);
  EXPECT_GE(tags.size(), points - 2) << "rounding to whole tags may cross a border";
  EXPECT_EQ(ports, (std::map<std::string, int>{{"1", 10}, {"2", 10}, {"4", 10}, {"8", 10}}));
  EXPECT_EQ(settings, latin_hypercube(axes, points, 7));
  EXPECT_NE(settings, latin_hypercube(axes, points, 8));
}

/// First column of the first row.
std::string query(const fs::path& database, const std::string& sql) {
  Sqlite sqlite(database.string(), true);
  SqliteStatement statement(sqlite, sql);
  return statement.step() ? statement.text(0) : "";
}

TEST(Sweep, HasEveryPointAndSeedOnce) {
  const fs::path database = fresh_folder() / "a.sqlite";
  const std::string command = fmt::format(
      "mrcsim sweep {} --set fabric.loss_rate=0.001 --vary pcie.read_tags=64,512 --vary "
      "node.nic0.nic.retransmit_buffer.entries=64..256:x2 --seeds 2 -j 2 --db %D/a.sqlite",
      kQuick);
  const ProcessResult first = run_process(command);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("6 points, 12 runs: 12 executed, 0 reused"), std::string::npos) << first.out;
  EXPECT_EQ(first.err, "") << "no progress where there is no terminal";
  EXPECT_EQ(query(database, "SELECT count(*) FROM runs WHERE status = 'complete' AND goodput_gbps > 0"), "12");
  EXPECT_EQ(query(database, "SELECT count(DISTINCT seed) FROM run"), "2");
  EXPECT_EQ(query(database, "SELECT settings FROM points WHERE point = 4"),
            "pcie.read_tags=512 node.nic0.nic.retransmit_buffer.entries=128");
  EXPECT_EQ(query(database,
                  "SELECT count(*) FROM runs r JOIN parameters p USING (run_id) JOIN setting s USING (study_id, point) "
                  "WHERE p.name = s.key AND p.value = s.value AND s.key = 'pcie.read_tags'"),
            "12")
      << "the effective configuration is what the point says";
  EXPECT_GT(std::stod(query(database, "SELECT avg(goodput_gbps) FROM runs WHERE settings LIKE '%tags=512%'")),
            std::stod(query(database, "SELECT avg(goodput_gbps) FROM runs WHERE settings LIKE '%tags=64%'")));
  EXPECT_EQ(query(database, "SELECT count(*) FROM limits WHERE cause = 'framing'"), "12");
  EXPECT_EQ(query(database,
                  "SELECT count(*) FROM run WHERE status = json_extract(result, '$.status') AND "
                  "goodput_gbps = json_extract(result, '$.goodput_gbps') AND "
                  "simulated_time_us = json_extract(result, '$.simulated_time_us') AND "
                  "message_time_mean_us = json_extract(result, '$.message_time_us.mean') AND "
                  "message_time_p99_us = json_extract(result, '$.message_time_us.p99') AND "
                  "sram_bits = (SELECT sum(json_extract(value, '$.bits')) FROM json_each(result, '$.sram')) AND "
                  "top_limit = (SELECT json_extract(value, '$.cause') FROM json_each(result, '$.limits') "
                  "WHERE json_extract(value, '$.cause') NOT IN ('framing', 'unattributed') LIMIT 1)"),
            "12")
      << "columns are those of the result";
  EXPECT_FALSE(fs::exists(database.string() + ".runs"));

  // The result in the database is the one that the run itself gives.
  ASSERT_EQ(run_process(fmt::format("mrcsim run {} --set fabric.loss_rate=0.001 --set pcie.read_tags=512 --set "
                                    "node.nic0.nic.retransmit_buffer.entries=128 --seed 2 --quiet --out %D/out",
                                    kQuick))
                .exit_code,
            0);
  EXPECT_EQ(query(database, "SELECT result FROM run WHERE id = (SELECT run_id FROM runs WHERE point = 4 AND seed = 2)"),
            read_text(test_folder() / "out" / "result.json"));

  // As a study leaves it that is killed after it has stored a run.
  const fs::path left = database.string() + ".runs/" + query(database, "SELECT digest FROM run");
  fs::create_directories(left);
  std::ofstream(left / "result.json") << "{}";
  const ProcessResult again = run_process(command);
  EXPECT_NE(again.out.find("12 runs: 0 executed, 12 reused"), std::string::npos) << again.out;
  EXPECT_FALSE(fs::exists(database.string() + ".runs"));
  const ProcessResult more = run_process(command + " --vary pcie.read_tags=64,512,1024");
  EXPECT_EQ(more.exit_code, 2) << "varied twice";
  const ProcessResult wider =
      run_process(fmt::format("mrcsim sweep {} --set fabric.loss_rate=0.001 --vary pcie.read_tags=512,1024 --vary "
                              "node.nic0.nic.retransmit_buffer.entries=128 --seeds 2 -j 2 --db %D/a.sqlite",
                              kQuick));
  EXPECT_NE(wider.out.find("4 runs: 2 executed, 2 reused"), std::string::npos) << wider.out;
  EXPECT_EQ(query(database, "SELECT count(*) FROM study"), "2");
}

TEST(Sweep, OneBadRunLosesNoOther) {
  const fs::path folder = fresh_folder();
  std::ofstream(folder / "good.csv") << "start_us,src,dst,bytes,tag\n0,0,1,100000,0\n";
  std::ofstream(folder / "bad.csv") << "start_us,src,dst,bytes,tag\n0,0,one,10,0\n";
  std::ofstream(folder / "s.toml") << "[traffic]\ntrace = \"good.csv\"\n[run]\nstall_us = 200\n";
  const ProcessResult sweep = run_process(
      "mrcsim sweep %D/s.toml --vary traffic.trace=good.csv,bad.csv --vary fabric.loss_rate=0,1 -j 2 --db %D/a.sqlite");
  EXPECT_EQ(sweep.exit_code, 3) << "that of the first run that did not end well";
  EXPECT_NE(sweep.err.find("bad.csv:2: column dst is \"one\""), std::string::npos) << sweep.err;
  EXPECT_NE(sweep.err.find("stalled: "), std::string::npos) << sweep.err;
  const fs::path database = folder / "a.sqlite";
  EXPECT_EQ(query(database, "SELECT group_concat(state || ' ' || coalesce(status, '-') || ' ' || exit_code) FROM runs"),
            "done complete 0,done stalled 3,failed - 2,failed - 2");
}

/// Starts a sweep of 16 runs behind the test's back and waits until some of them are done.
class Cut : public ::testing::TestWithParam<int> {
 protected:
  static constexpr const char* kSweep =
      "mrcsim sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.05 --vary pcie.read_tags=100..400:+100 --seeds 4 "
      "-j 2 --db %D/a.sqlite";

  void SetUp() override {
    database_ = fresh_folder() / "a.sqlite";
    // In a session of its own, and with SIGINT as a terminal's child has it.
    run_process(std::string("setsid bash -c 'echo $$ >%D/pid; trap - INT; exec ") + MRCSIM_EXECUTABLE +
                std::string(kSweep).substr(6) + " >%D/log 2>&1' &");
    for (int i = 0; i < 1000 && done() < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_GE(done(), 3);
    ASSERT_LT(done(), 14) << "too late to cut";
  }
  int done() const {
    if (!fs::exists(database_)) return 0;
    try {
      return std::stoi("0" + query(database_, "SELECT count(*) FROM run WHERE state = 'done'"));
    } catch (const StudyError&) {
      return 0;  // being made, or being written to
    }
  }

  /// Results of runs that ended and that the study has not removed.
  int results_left() const {
    int left = 0;
    if (!fs::exists(database_.string() + ".runs")) return left;
    for (const auto& entry : fs::directory_iterator(database_.string() + ".runs"))
      left += fs::exists(entry.path() / "result.json") ? 1 : 0;
    return left;
  }

  fs::path database_;
};

TEST_P(Cut, SweepGoesOnWhereItWas) {
  const pid_t process = std::stoi(read_text(test_folder() / "pid"));
  ASSERT_EQ(kill(process, GetParam()), 0);
  while (kill(process, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const int before = done();
  const int left = results_left();
  EXPECT_EQ(std::stoi(query(database_, "SELECT count(*) FROM run")), 16) << "planned before the first is executed";
  const std::string times =
      query(database_, "SELECT group_concat(id || ' ' || wall_seconds) FROM run WHERE state = 'done'");
  const ProcessResult again = run_process(kSweep);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  // A run that ended shortly before the kill was not yet in the database, but its result is taken and the run is not
  // repeated.
  int executed = 0;
  const std::size_t at = again.out.find("16 runs: ");
  ASSERT_NE(at, std::string::npos) << again.out;
  executed = std::stoi(again.out.substr(at + 9));
  EXPECT_LE(executed, 16 - before);
  EXPECT_GE(executed, 16 - before - left);
  EXPECT_EQ(done(), 16);
  EXPECT_NE(query(database_, "SELECT group_concat(id || ' ' || wall_seconds) FROM run")
                .find(times.substr(0, times.find(','))),
            std::string::npos);
  EXPECT_EQ(query(database_, fmt::format("SELECT count(*) FROM runs WHERE status = 'complete'")), "16");
  const bool said = read_text(test_folder() / "log").find("interrupted; finished runs are in") != std::string::npos;
  EXPECT_EQ(said, GetParam() != SIGKILL);
}

INSTANTIATE_TEST_SUITE_P(By, Cut, ::testing::Values(SIGKILL, SIGINT, SIGTERM, SIGHUP), [](const auto& test) {
  return test.param == SIGKILL ? "Kill" : test.param == SIGINT ? "CtrlC" : test.param == SIGTERM ? "Term" : "Hangup";
});

TEST(Sweep, OneAtATimeWorksWithADatabase) {
  fresh_folder();
  fs::create_directories(test_folder() / "a.sqlite.runs");
  // flock(1) holds the lock while the sweep tries.
  const ProcessResult second = run_process(fmt::format(
      "flock %D/a.sqlite.runs/lock {} sweep {} --vary pcie.read_tags=64 --db %D/a.sqlite", MRCSIM_EXECUTABLE, kQuick));
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.err.find("another mrcsim works with it"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace mrc
