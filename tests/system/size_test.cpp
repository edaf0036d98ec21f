// Sizing: the answer is that of an exhaustive sweep, noise and curves that are not monotone are said, and what is lost
// below the knee is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "mrcsim_process.h"
#include "study/buffers.h"
#include "study/objective.h"
#include "study/sizer.h"
#include "study/sqlite.h"
#include "study/statistics.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuick = "tb/scenarios/pair.toml --set traffic.byte_scale=0.02 --set host.payload=reference";

nlohmann::json answer_of(const std::string& kind, int nth = 0) {
  Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
  SqliteStatement statement(sqlite, "SELECT answer FROM study WHERE kind = ?1 ORDER BY id LIMIT 1 OFFSET ?2");
  statement.bind(1, kind).bind(2, std::int64_t{nth}).step();
  return nlohmann::json::parse(statement.text(0));
}

class Size : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(test_folder());
    fs::create_directories(test_folder());
  }
};

TEST(Objective, Texts) {
  const Objective goodput = parse_objective("goodput>=99%");
  EXPECT_TRUE(goodput.relative);
  EXPECT_DOUBLE_EQ(goodput.threshold, 0.99);
  EXPECT_TRUE(goodput.holds(0.99));
  EXPECT_FALSE(goodput.holds(0.98));
  EXPECT_FALSE(parse_objective("goodput>=700").relative);
  EXPECT_TRUE(parse_objective("p99<=110%").holds(1.05));
  EXPECT_FALSE(parse_objective("step<=5000").holds(5001));
  for (const char* text : {"goodput", "goodput<=99%", "p99>=5", "gudput>=1", "goodput>=x", "goodput>=101%", "p99<=-3",
                           "p99<=5us", "", ">=3", "goodput>=99%%"})
    EXPECT_THROW(parse_objective(text), StudyError) << text;
}

TEST(Objective, CountsAndSeveral) {
  const Objective refusals = parse_objective("refusals=0");
  EXPECT_TRUE(refusals.is_count());
  EXPECT_TRUE(refusals.holds(0));
  EXPECT_FALSE(refusals.holds(1));
  EXPECT_TRUE(parse_objective("drops<=3").holds(3));
  for (const char* text : {"drops=x", "nacks>=0", "refusals=1%", "drops=-1", "goodput=700"})
    EXPECT_THROW(parse_objective(text), StudyError) << text;
  const Objectives both = parse_objectives({"refusals=0", "p99<=110%"});
  EXPECT_EQ(both.first().text, "p99<=110%") << "a count has no curve";
  EXPECT_EQ(both.text(), "p99<=110% and refusals=0");
  EXPECT_THROW(parse_objectives({"drops=0"}), StudyError);
  const std::string result = R"({"packets": {"dropped": 2, "nacks": 5}, "buffers": [
    {"node": "nic0", "name": "sack_processor.queue", "refusals": 3},
    {"node": "nic1", "name": "sack_processor.queue", "refusals": 4}]})";
  const std::vector<std::string> all{"nic.sack_processor.queue_entries"};
  const std::vector<std::string> one{"node.nic1.nic.sack_processor.queue_entries"};
  EXPECT_EQ(refusals.count(result, all), 7);
  EXPECT_EQ(refusals.count(result, one), 4);
  EXPECT_EQ(parse_objective("drops=0").count(result, all), 2);
  EXPECT_EQ(parse_objective("nacks=0").count(result, all), 5);
  EXPECT_FALSE(refusals.holds(refusals.count("", all))) << "a run without a result";
  EXPECT_TRUE(sizes_buffer("nic.port.tx_fifo_bytes", "nic0", "port3.tx_fifo"));
  EXPECT_FALSE(sizes_buffer("nic.port.tx_fifo_bytes", "nic0", "port3.control_fifo"));
  EXPECT_TRUE(sizes_buffer("nic.completion.cq_entries", "nic0", "host.completion_queue"));
  EXPECT_TRUE(sizes_buffer("node.nic1.pcie.read_tags", "nic1", "pcie.read_tags"));
  EXPECT_FALSE(sizes_buffer("node.nic1.pcie.read_tags", "nic0", "pcie.read_tags"));
}

TEST(Statistics, IntervalAndNoise) {
  // Tables of Student's distribution: one, two and thirty degrees of freedom, between two, and for another share.
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 30), 2.042, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.960, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 5), 2.015, 5e-4);
  EXPECT_NEAR(student_quantile(0.9995, 3), 12.924, 5e-4);
  EXPECT_LT(student_quantile(0.975, 2.5), 4.303);
  EXPECT_GT(student_quantile(0.975, 2.5), 3.182);
  const Interval interval = confidence_interval({9, 10, 11});
  EXPECT_DOUBLE_EQ(interval.mean, 10);
  EXPECT_NEAR(interval.high - 10, 4.302652730 / std::sqrt(3.0), 1e-8);
  EXPECT_FALSE(beyond_noise({1, 2, 3}, {2, 3, 4}));
  EXPECT_TRUE(beyond_noise({1, 2, 3}, {11, 12, 13}));
  EXPECT_TRUE(beyond_noise({1, 1}, {2, 2})) << "no scatter: every difference counts";
  EXPECT_FALSE(beyond_noise({1}, {2})) << "nothing is known";
}

TEST_F(Size, AgreesWithAnExhaustiveSweep) {
  const ProcessResult size = run_process(
      fmt::format("mrcsim size {} --buffer nic.retransmit_buffer.entries --seeds 2 -j 2 --db %D/a.sqlite", kQuick));
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const auto answer = answer_of("size");
  const int entries = answer["answer"];
  EXPECT_EQ(answer["resolution"], 1);
  EXPECT_NE(size.out.find(fmt::format("nic.retransmit_buffer.entries = {} holds goodput>=99%", entries)),
            std::string::npos)
      << size.out;
  EXPECT_NE(size.out.find("below it the loss is retransmit_buffer.entries"), std::string::npos) << size.out;
  ASSERT_EQ(run_process(fmt::format("mrcsim sweep {} --vary nic.retransmit_buffer.entries=50..80:+1 --vary "
                                    "nic.retransmit_buffer.store=descriptor --seeds 2 -j 2 --db %D/a.sqlite --quiet",
                                    kQuick))
                .exit_code,
            0);
  // Unlimited runs: what the sizing compared with.
  Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
  std::map<std::int64_t, double> unlimited;
  SqliteStatement reference(sqlite,
                            "SELECT seed, goodput_gbps FROM runs WHERE study_id = 1 AND settings LIKE '%=1048576'");
  while (reference.step()) unlimited[reference.integer(0)] = reference.real(1);
  ASSERT_EQ(unlimited.size(), 2U);
  std::map<std::int64_t, double> share;
  SqliteStatement rows(
      sqlite,
      "SELECT s.value, r.seed, r.goodput_gbps FROM runs r JOIN setting s USING (study_id, point) WHERE "
      "study_id = 2 AND s.key = 'nic.retransmit_buffer.entries'");
  while (rows.step()) share[rows.integer(0)] += rows.real(2) / unlimited.at(rows.integer(1)) / 2;
  ASSERT_EQ(share.size(), 31U);
  std::int64_t smallest = 81;
  for (auto it = share.rbegin(); it != share.rend() && it->second >= 0.99; ++it) smallest = it->first;
  EXPECT_EQ(entries, smallest);
  for (const auto& point : answer["curve"]) {
    const auto known = share.find(point["value"]);
    if (known == share.end()) continue;
    EXPECT_NEAR(point["mean"].get<double>(), known->second, 1e-9) << point.dump();
  }
  EXPECT_LE(answer["answer_low"], entries);
  EXPECT_GE(answer["answer_high"], entries);
  const std::uint64_t bits = 182;  // of a record
  for (const auto& point : answer["curve"]) EXPECT_EQ(point["buffer_bits"], point["value"].get<std::uint64_t>() * bits);
}

TEST_F(Size, NoiseIsSaidAndCurvesThatAreNotMonotoneAreScanned) {
  const ProcessResult size = run_process(
      fmt::format("mrcsim size {} --set fabric.loss_rate=0.3 seed=1 --buffer nic.retransmit_buffer.entries --seeds 1 "
                  "-j 2 --db %D/a.sqlite",
                  kQuick));
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const auto answer = answer_of("size");
  ASSERT_TRUE(answer["scanned"].get<bool>()) << "this scenario's curve is not monotone";
  EXPECT_NE(size.out.find("not monotonic"), std::string::npos);
  bool below_fails = false;
  std::int64_t last_below = 0;
  for (const auto& point : answer["curve"]) {
    EXPECT_TRUE(point["value"] < answer["answer"] || point["holds"].get<bool>()) << point.dump();
    if (point["value"] < answer["answer"] && point["value"] > last_below) {
      last_below = point["value"];
      below_fails = !point["holds"].get<bool>();
    }
  }
  EXPECT_TRUE(below_fails);
}

TEST_F(Size, SeveralObjectivesNeedTheLargerSize) {
  const std::string command = fmt::format(
      "mrcsim size {} --buffer nic.retransmit_buffer.entries --seeds 1 -j 2 --db %D/a.sqlite --hold 'goodput>=90%'",
      kQuick);
  ASSERT_EQ(run_process(command).exit_code, 0);
  const std::int64_t goodput_alone = answer_of("size")["answer"];
  const ProcessResult both = run_process(command + " --hold refusals=0");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_NE(both.out.find("holds goodput>=90% and refusals=0"), std::string::npos) << both.out;
  const auto answer = answer_of("size", 1);
  EXPECT_GT(answer["answer"].get<std::int64_t>(), goodput_alone);
  for (const auto& point : answer["curve"]) {
    EXPECT_TRUE(!point["holds"].get<bool>() || point["value"] >= answer["answer"]) << point.dump();
  }
}

TEST_F(Size, SaysWhatHoldsItsReferenceAndSizesWithoutIt) {
  const std::string command = fmt::format(
      "mrcsim size {} --set pcie.read_tags=64 --buffer nic.retransmit_buffer.entries --seeds 1 -j 2 --db %D/a.sqlite",
      kQuick);
  const ProcessResult held = run_process(command);
  ASSERT_EQ(held.exit_code, 0) << held.err;
  EXPECT_NE(held.out.find("limited by pcie.read_tags"), std::string::npos) << held.out;
  EXPECT_NE(held.out.find("throttled by something else"), std::string::npos) << held.out;
  const auto with_tags = answer_of("size");
  EXPECT_EQ(with_tags["references"][0]["causes"][0]["cause"], "pcie.read_tags");
  const ProcessResult free = run_process(command + " --others unlimited");
  ASSERT_EQ(free.exit_code, 0) << free.err;
  const auto without = answer_of("size", 1);
  EXPECT_GT(without["reference"]["goodput_gbps"].get<double>(), with_tags["reference"]["goodput_gbps"].get<double>());
  EXPECT_GT(without["answer"], with_tags["answer"]);
}

TEST(BufferKeys, LeaveOutWhatTheScenarioDoesNotModel) {
  ScenarioConfig scenario;
  const auto has = [&](const std::string& key) {
    const std::vector<std::string> keys = buffer_keys(scenario);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  EXPECT_TRUE(has("pcie.read_tags"));
  EXPECT_FALSE(has("pcie.memory_table.key_entries"));
  scenario.node_default.pcie.memory_table.key_entries = 64;
  EXPECT_TRUE(has("pcie.memory_table.key_entries"));
}

TEST_F(Size, HoldsInTheWorstOfSeveralScenarios) {
  std::string text = read_text(fs::path(MRCSIM_SOURCE_DIR) / "tb/scenarios/pair.toml");
  const std::string trace = "../../traces/";
  text.replace(text.find(trace), trace.size(), std::string(MRCSIM_SOURCE_DIR) + "/traces/");
  std::ofstream(test_folder() / "slow_host.toml")
      << text << "\n[pcie]\nread_latency_mean_ns = 900\nread_latency_p99_ns = 1000\n";
  const std::string options =
      "--set traffic.byte_scale=0.02 host.payload=reference --buffer nic.retransmit_buffer.entries "
      "--seeds 1 -j 2 --db %D/a.sqlite --quiet";
  ASSERT_EQ(run_process("mrcsim size tb/scenarios/pair.toml " + options).exit_code, 0);
  ASSERT_EQ(run_process("mrcsim size %D/slow_host.toml " + options).exit_code, 0);
  const ProcessResult both = run_process("mrcsim size tb/scenarios/pair.toml " + options + " --also %D/slow_host.toml");
  ASSERT_EQ(both.exit_code, 0) << both.err;
  const std::int64_t fast = answer_of("size")["answer"];
  const std::int64_t slow = answer_of("size", 1)["answer"];
  ASSERT_NE(fast, slow);
  const auto answer = answer_of("size", 2);
  EXPECT_EQ(answer["answer"].get<std::int64_t>(), std::max(fast, slow));
  EXPECT_EQ(answer["references"].size(), 2U);
}

TEST_F(Size, ABufferOfOneNodeHasItsBits) {
  const ProcessResult size = run_process(fmt::format(
      "mrcsim size {} --buffer node.nic1.nic.rx_staging.bytes --seeds 1 -j 2 --db %D/a.sqlite --quiet", kQuick));
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const auto answer = answer_of("size");
  for (const auto& point : answer["curve"]) {
    EXPECT_GE(point["buffer_bits"].get<std::uint64_t>(), 8 * point["value"].get<std::uint64_t>()) << point.dump();
  }
}

TEST_F(Size, OtherObjectives) {
  const char* const buffer = "--buffer pcie.read_tags --seeds 1 -j 2 --db %D/a.sqlite --quiet";
  ASSERT_EQ(run_process(fmt::format("mrcsim size {} {} --hold 'goodput>=200'", kQuick, buffer)).exit_code, 0);
  ASSERT_EQ(run_process(fmt::format("mrcsim size {} {} --hold 'step<=110%'", kQuick, buffer)).exit_code, 0);
  ASSERT_EQ(run_process(fmt::format("mrcsim size {} {} --hold 'p99<=120%'", kQuick, buffer)).exit_code, 0);
  const auto absolute = answer_of("size", 0);
  for (const auto& point : absolute["curve"])
    EXPECT_EQ(point["holds"].get<bool>(), point["goodput_gbps"].get<double>() >= 200) << point.dump();
  const auto step = answer_of("size", 1);
  for (const auto& point : step["curve"]) {
    const double share =
        point["simulated_time_us"].get<double>() / step["reference"]["simulated_time_us"].get<double>();
    EXPECT_EQ(point["holds"].get<bool>(), share <= 1.1) << point.dump();
  }
  const ProcessResult none = run_process(
      fmt::format("mrcsim size {} --buffer pcie.read_tags --seeds 1 --db %D/a.sqlite --hold 'goodput>=790'", kQuick));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.out.find("not even pcie.read_tags = 4096 holds goodput>=790"), std::string::npos) << none.out;
}

TEST_F(Size, AllTogether) {
  const ProcessResult size = run_process(
      fmt::format("mrcsim size {} --set seed=3 --all --buffer nic.retransmit_buffer.entries --buffer pcie.read_tags "
                  "--seeds 1 -j 2 --db %D/a.sqlite",
                  kQuick));
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const auto answer = answer_of("all");
  int best = 0;
  for (const auto& point : answer["points"]) {
    best += point["best"].get<bool>() ? 1 : 0;
    EXPECT_TRUE(!point["best"].get<bool>() || point["holds"].get<bool>());
    bool beaten = false;
    for (const auto& other : answer["points"]) {
      const bool no_worse = other["sram_bits"] <= point["sram_bits"] &&
                            other["goodput_gbps"] >= point["goodput_gbps"] &&
                            other["message_time_p99_us"] <= point["message_time_p99_us"];
      const bool better = other["sram_bits"] < point["sram_bits"] || other["goodput_gbps"] > point["goodput_gbps"] ||
                          other["message_time_p99_us"] < point["message_time_p99_us"];
      beaten = beaten || (no_worse && better);
    }
    EXPECT_EQ(point["front"].get<bool>(), !beaten) << point.dump();
  }
  EXPECT_EQ(best, 1);
  // Single, joint and confirmed sizes are printed: which of them are to be built?
  const auto at = [&](const std::string& text) { return size.out.find(text); };
  EXPECT_LT(at("Each buffer alone, the others as they are. Not the sizes to build"), at("All buffers together"));
  const std::size_t build = at("\nSizes to build: the least SRAM found that holds goodput>=99%, confirmed on ");
  ASSERT_NE(build, std::string::npos) << size.out;
  EXPECT_LT(at("All buffers together"), build);
  EXPECT_NE(at("<- to build: "), std::string::npos) << size.out;
  for (const auto& [key, value] : answer["build"].items()) {
    EXPECT_NE(size.out.find(fmt::format("  --set {}={}\n", key, value.get<std::int64_t>()), build), std::string::npos)
        << size.out;
  }
  EXPECT_EQ(answer["build"].size(), 2U) << answer["build"];
}

TEST_F(Size, SaysThatNoiseDominates) {
  const std::string command =
      "mrcsim size tb/scenarios/pair.toml --set host.payload=reference traffic.rows=8 fabric.loss_rate=0.02 --buffer "
      "nic.retransmit_buffer.entries --seeds 3 -j 2 --db %D/a.sqlite";
  const ProcessResult size = run_process(command);
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const auto answer = answer_of("size");
  EXPECT_EQ(answer["noise_dominates"], true);
  const std::string line = answer["noise"].get<std::string>();
  EXPECT_EQ(line.find("noise dominates this answer: over 3 seeds it is "), 0U) << line;
  EXPECT_NE(line.find("--seeds 12"), std::string::npos) << line;
  EXPECT_NE(size.out.find("\n  " + line + "\n"), std::string::npos) << size.out;
}

SizingResult sizing(double low, double high, std::int64_t from, std::int64_t to) {
  SizingResult result;
  result.request = {.key = "nic.retransmit_buffer.entries", .objectives = {}, .context = {}};
  result.answer = 200;
  result.answer_low = from;
  result.answer_high = to;
  result.curve[200].score = {(low + high) / 2, low, high};
  return result;
}

TEST(SizingNoise, DominatesWhereSeedsLeaveSizesOpenThatLieFarApart) {
  EXPECT_TRUE(sizing(0.97, 1.012, 90, 4096).noise_dominates());
  EXPECT_FALSE(sizing(0.995, 0.997, 200, 200).noise_dominates()) << "far from the target";
  EXPECT_FALSE(sizing(0.9899, 0.9903, 198, 202).noise_dominates()) << "bisection ends close to the target";
}

}  // namespace
}  // namespace mrc
