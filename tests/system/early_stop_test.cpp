// Runs that end as soon as their steady goodput is known: sooner, with status known, and with that of the whole run
// within the interval that was asked for.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"
#include "study/sqlite.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr double kWithinPercent = 1;

class EarlyStop : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(test_folder());
    fs::create_directories(test_folder());
  }
  /// result.json of the pair, which has fewer tags than line rate takes.
  static nlohmann::json run(const std::string& settings, const std::string& out) {
    const ProcessResult done =
        run_process(fmt::format("mrcsim run tb/scenarios/pair.toml --set traffic.byte_scale=0.1 host.payload=reference "
                                "pcie.read_tags=96 {} --quiet --out %D/{}",
                                settings, out));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return read_json(test_folder() / out / "result.json");
  }
};

TEST_F(EarlyStop, KnowsTheGoodputOfTheLongRun) {
  for (const int seed : {1, 2, 3}) {
    const auto whole = run(fmt::format("seed={} run.stop_within_percent=0.001", seed), fmt::format("whole{}", seed));
    const auto early =
        run(fmt::format("seed={} run.stop_within_percent={}", seed, kWithinPercent), fmt::format("early{}", seed));
    ASSERT_EQ(whole["status"], "complete");
    ASSERT_EQ(early["status"], "known");
    EXPECT_LT(early["packets"]["sent"].get<double>(), 0.7 * whole["packets"]["sent"].get<double>());
    const auto& steady = early["steady_goodput"];
    EXPECT_NEAR(steady["gbps"].get<double>() / whole["steady_goodput"]["gbps"].get<double>(), 1,
                2 * kWithinPercent / 100)
        << seed;
    EXPECT_LE(steady["high_gbps"].get<double>() - steady["low_gbps"].get<double>(),
              2 * kWithinPercent / 100 * steady["gbps"].get<double>());
    double sum = early["goodput_gbps"];
    for (const auto& limit : early["limits"]) sum += limit["gbps"].get<double>();
    EXPECT_NEAR(sum, early["line_rate_gbps"].get<double>(), 0.1);
    // Without start and end it is more than over all of the time.
    EXPECT_GT(whole["steady_goodput"]["gbps"], whole["goodput_gbps"]);
  }
  EXPECT_EQ(run("seed=1", "usual")["steady_goodput"]["gbps"], 0);
  // A loss that only a timer notices is rare, and may not have been seen yet.
  const auto lossy = run("fabric.loss_rate=0.01 run.stop_within_percent=1", "lossy");
  EXPECT_EQ(lossy["status"], "complete");
  EXPECT_GT(lossy["steady_goodput"]["high_gbps"], 1.02 * lossy["steady_goodput"]["gbps"].get<double>());
}

TEST_F(EarlyStop, NeverWhereTheRateChanges) {
  // The second half comes message by message.
  std::ofstream flows(test_folder() / "flows.csv");
  flows << "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < 20; ++i) flows << fmt::format("0,0,1,1000000,{}\n", i);
  for (int i = 0; i < 10; ++i) flows << fmt::format("{},0,1,1000000,{}\n", 240 + 40 * i, 20 + i);
  flows.close();
  std::ofstream(test_folder() / "s.toml") << "traffic.trace = \"flows.csv\"\nrun.stop_within_percent = 0.05\n";
  const ProcessResult done = run_process("mrcsim run %D/s.toml --set host.payload=reference --quiet --out %D/out");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(read_json(test_folder() / "out" / "result.json")["status"], "complete");
}

TEST_F(EarlyStop, StudiesTakeWhatIsForeseen) {
  const std::string vary =
      "mrcsim sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.05 host.payload=reference "
      "run.stop_within_percent=2 --vary pcie.read_tags=64,512 --db %D/a.sqlite --quiet";
  ASSERT_EQ(run_process(vary).exit_code, 0);
  Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
  SqliteStatement rows(sqlite,
                       "SELECT count(*), sum(complete) FROM points UNION ALL SELECT count(*), sum(goodput_gbps = "
                       "json_extract(result, '$.steady_goodput.gbps')) FROM run WHERE status = 'known'");
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(rows.step());
    EXPECT_EQ(rows.integer(0), 2);
    EXPECT_EQ(rows.integer(1), 2);
  }
}

std::int64_t number_in(const std::string& query) {
  Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
  SqliteStatement row(sqlite, query);
  EXPECT_TRUE(row.step());
  return row.integer(0);
}

/// Its view of points counted only runs that are complete.
TEST_F(EarlyStop, ADatabaseOfAnOlderSchemaIsReadAndBroughtUpToDate) {
  const std::string sweep =
      "mrcsim sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.05 host.payload=reference "
      "run.stop_within_percent=2 --vary pcie.read_tags=512 --db %D/a.sqlite --quiet";
  ASSERT_EQ(run_process(sweep).exit_code, 0);
  const std::string path = (test_folder() / "a.sqlite").string();
  Sqlite(path, false)
      .execute(
          "DROP VIEW points; CREATE VIEW points AS SELECT study_id, point, settings, count(*) AS runs, sum(status "
          "= 'complete') AS complete, 0 AS goodput_gbps, 0 AS goodput_min_gbps, 0 AS goodput_max_gbps, 0 AS "
          "message_time_p99_us, 0 AS simulated_time_us, 0 AS sram_bits, '' AS top_limit FROM runs GROUP BY "
          "study_id, point; PRAGMA user_version = 1");
  ASSERT_EQ(run_process("mrcsim report %D/a.sqlite -o %D/a.html").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "a.html").find("\"complete\":1"), std::string::npos);
  EXPECT_EQ(number_in("PRAGMA user_version"), 1);
  EXPECT_EQ(number_in("SELECT sum(complete) FROM points"), 0);
  ASSERT_EQ(run_process(sweep).exit_code, 0);
  EXPECT_EQ(number_in("PRAGMA user_version"), 2);
  EXPECT_EQ(number_in("SELECT sum(complete) FROM points"), 1);
}

TEST_F(EarlyStop, IsRefusedWhereNothingIsKnown) {
  std::ofstream(test_folder() / "sizes.toml") << "pcie.read_tags = 64\n";
  std::ofstream(test_folder() / "envelope.toml") << "[parameters]\nprotocol.mtu_bytes = {values = [4096, 2048]}\n";
  for (const std::string study :
       {"size tb/scenarios/pair.toml --buffer pcie.read_tags --hold 'p99<=110%'", "why tb/scenarios/pair.toml --of p99",
        "attack tb/scenarios/pair.toml --sizes %D/sizes.toml --envelope %D/envelope.toml --hold 'p99<=110%' --out "
        "%D/out",
        "isolation tb/scenarios/tenants.toml"}) {
    const ProcessResult refused =
        run_process("mrcsim " + study + " --set run.stop_within_percent=1 --db %D/refused.sqlite");
    EXPECT_EQ(refused.exit_code, 2) << study;
    EXPECT_NE(refused.err.find("a run ends when its goodput is known"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("allowed: run.stop_within_percent = 0"), std::string::npos) << refused.err;
    const bool has_objective = !study.starts_with("isolation");
    EXPECT_EQ(refused.err.find(" or the objective goodput") != std::string::npos, has_objective) << refused.err;
  }
  std::ofstream(test_folder() / "s.toml") << "traffic.trace = \"flows.csv\"\nrun.stop_within_percent = 1\n"
                                             "[[fault]]\nkind = \"link_down\"\nwhere = \"nic0.port0\"\nat_us = 10\n";
  std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag\n0,0,1,1000,0\n";
  const ProcessResult fault = run_process("mrcsim run %D/s.toml --out %D/out");
  EXPECT_EQ(fault.exit_code, 2);
  EXPECT_NE(fault.err.find("run.stop_within_percent"), std::string::npos) << fault.err;
}

}  // namespace
}  // namespace mrc
