// Attacks: a planted weakness is found, reduced, repeated by run and healed; nothing is found where nothing is; a
// command goes on where it was; bad input is refused before anything is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "mrcsim_process.h"
#include "study/attack.h"
#include "study/envelope.h"
#include "study/settings_file.h"
#include "study/sqlite.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScenario = "tb/scenarios/pair.toml --set host.payload=reference --set traffic.rows=16";
/// Nothing but a stall can hurt rx_staging, and only a long one.
constexpr const char* kStall =
    "[parameters]\nhost.doorbell_ns = {min = 100, max = 500}\nprotocol.mtu_bytes = {values = [4096, 2048]}\n"
    "[seeds]\ncount = 2\n[[fault]]\nkind = \"pcie_stall\"\nwhere = {values = [\"nic0\", \"nic1\"]}\n"
    "at_us = {min = 5, max = 100}\nfor_us = {min = 0.2, max = 20}\n";

class Attack : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(test_folder());
    fs::create_directories(test_folder());
  }
  static void write(const std::string& name, const std::string& text) { std::ofstream(test_folder() / name) << text; }
  static ProcessResult attack(const std::string& sizes, const std::string& envelope, const std::string& more) {
    write("sized.toml", sizes);
    write("envelope.toml", envelope);
    return run_process(fmt::format(
        "mrcsim attack {} --sizes %D/sized.toml --envelope %D/envelope.toml -j 2 --db %D/a.sqlite --out %D/out {}",
        kScenario, more));
  }
  static nlohmann::json answer() {
    Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
    SqliteStatement statement(sqlite, "SELECT answer FROM study WHERE kind = 'attack'");
    return statement.step() ? nlohmann::json::parse(statement.text(0)) : nlohmann::json();
  }
  static nlohmann::json result_of(const std::string& file, const std::string& more) {
    const ProcessResult run = run_process(fmt::format("mrcsim run %D/out/{} --quiet --out %D/run {}", file, more));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return read_json(test_folder() / "run" / "result.json");
  }
  static double goodput(const std::string& file, const std::string& more) {
    return result_of(file, more)["goodput_gbps"];
  }
  static double time_of(const std::string& file, const std::string& more) {
    return result_of(file, more)["simulated_time_us"];
  }
};

TEST(AttackBudgetText, TimesAndRuns) {
  EXPECT_DOUBLE_EQ(parse_budget("90s").seconds, 90);
  EXPECT_DOUBLE_EQ(parse_budget("30m").seconds, 1800);
  EXPECT_DOUBLE_EQ(parse_budget("1.5h").seconds, 5400);
  EXPECT_EQ(parse_budget("400runs").runs, 400U);
  for (const char* text : {"", "m", "0s", "-3m", "5", "5 m", "0.5runs", "infs", "nanm", "1e9runs"})
    EXPECT_THROW(parse_budget(text), StudyError) << text;
}

TEST(FactorRangeTest, PositionsAndNumbers) {
  const FactorRange linear{.values = {}, .low = 10, .high = 50};
  EXPECT_DOUBLE_EQ(linear.number(0.5), 30);
  EXPECT_DOUBLE_EQ(linear.position(30), 0.5);
  EXPECT_DOUBLE_EQ(linear.position(99), 1);
  const FactorRange logarithmic{.values = {}, .low = 1, .high = 10'000, .whole = true};
  EXPECT_EQ(logarithmic.text(0.5), "100");
  EXPECT_DOUBLE_EQ(logarithmic.position(100), 0.5);
  EXPECT_EQ(logarithmic.text(1), "10000");
  const FactorRange list{.values = {"a", "b", "c"}};
  EXPECT_EQ(list.text(0) + list.text(0.5) + list.text(0.99) + list.text(1), "abcc");
}

TEST_F(Attack, APlantedWeaknessIsFoundReducedRepeatedAndHealed) {
  const ProcessResult process =
      attack("nic.rx_staging.bytes = 131072\npcie.read_tags = 512\n", kStall, "--budget 250runs");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  const auto found = answer();
  ASSERT_GE(found["counterexamples"].size(), 1U) << process.out;
  const auto& first = found["counterexamples"][0];
  ASSERT_EQ(first["grown"].size(), 1U) << first.dump();
  const auto to = first["grown"]["nic.rx_staging.bytes"]["to"].get<std::int64_t>();
  EXPECT_GT(to, 131'072);
  EXPECT_LT(first["score"].get<double>(), 0.99);
  EXPECT_GE(first["healed_score"].get<double>(), 0.99);
  // All that is left of the case is the stall.
  ASSERT_EQ(first["differences"].size(), 1U) << first["differences"].dump();
  const std::string fault = first["differences"]["fault.attack1"];
  EXPECT_NE(fault.find("where = \"nic1\""), std::string::npos) << fault;

  const std::string file = first["file"];
  const std::string unlimited = "--set nic.rx_staging.bytes=1073741824 --set pcie.read_tags=4096";
  const double reference = goodput(file, unlimited);
  EXPECT_NEAR(goodput(file, "") / reference, first["score"].get<double>(), 1e-9);
  EXPECT_NEAR(goodput(file, fmt::format("--set nic.rx_staging.bytes={}", to)) / reference,
              first["healed_score"].get<double>(), 1e-9);

  // The sizes that are left hold against every counterexample, and their file can be attacked again.
  for (const auto& [key, size] : read_sizes((test_folder() / "out" / "sizes.toml").string()))
    EXPECT_EQ(found["sizes"][key], size);
  for (const auto& row : found["smaller"]) {
    if (row["buffer"] != "nic.rx_staging.bytes") continue;
    EXPECT_EQ(row["smaller"], row["size"].get<std::int64_t>() - row["size"].get<std::int64_t>() / 16);
    ASSERT_FALSE(row["breaker"].is_null()) << "the size is as small as its counterexample allows";
    const std::string smaller = row["breaker"]["file"];
    EXPECT_LT(goodput(smaller, "") / goodput(smaller, unlimited), 0.99);
  }
  EXPECT_NE(process.out.find("mrcsim run"), std::string::npos) << process.out;
  EXPECT_FALSE(fs::exists(test_folder() / "a.sqlite.runs"));
  // Same command: everything is known, and the answer is the same.
  const ProcessResult again =
      attack("nic.rx_staging.bytes = 131072\npcie.read_tags = 512\n", kStall, "--budget 250runs");
  EXPECT_NE(again.out.find(": 0 runs executed"), std::string::npos) << again.out;
  EXPECT_EQ(answer(), found);

  ASSERT_EQ(run_process("mrcsim report %D/a.sqlite -o %D/report.html").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "report.html").find("\"kind\":\"attack\""), std::string::npos);
}

TEST_F(Attack, NothingIsFoundWhereNothingIsShort) {
  const ProcessResult process =
      attack("nic.rx_staging.bytes = 16777216\nnic.dma_write.queue_entries = 16384\n", kStall, "--budget 80runs");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  const auto found = answer();
  EXPECT_TRUE(found["counterexamples"].empty()) << process.out;
  EXPECT_EQ(found["given"], found["sizes"]);
  EXPECT_EQ(found["held_since_growth"], found["cases"].get<int>() - found["not_judged"].get<int>());
  EXPECT_GE(found["runs"], 80 * 0.8);
  EXPECT_NE(process.out.find("no counterexample found"), std::string::npos) << process.out;
  EXPECT_NE(process.out.find("evidence, not a proof"), std::string::npos);
}

TEST_F(Attack, ASmallEnvelopeIsExhausted) {
  const ProcessResult process = attack(
      "pcie.read_tags = 512\n", "[parameters]\nprotocol.mtu_bytes = {values = [4096, 2048]}\n", "--budget 400runs");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  EXPECT_TRUE(answer()["exhausted"]);
  EXPECT_EQ(answer()["cases"], 2) << "the usual value and the other one";
}

TEST_F(Attack, GeneratedTrafficIsWrittenWithItsScenario) {
  // In the scenario's own trace nic1 sends no data.
  const char* const traffic =
      "[traffic]\nbytes = {min = 65536, max = 262144}\nspread = {min = 1, max = 4}\nreverse = {min = 0.2, max = 1}\n";
  const ProcessResult process = attack("node.nic1.nic.retransmit_buffer.entries = 8\n", traffic,
                                       "--hold 'step<=105%' --budget 100runs --format json");
  ASSERT_EQ(process.exit_code, 0) << process.err;
  const auto found = nlohmann::json::parse(process.out);
  EXPECT_EQ(found, answer());
  ASSERT_FALSE(found["counterexamples"].empty());
  for (const auto& example : found["counterexamples"]) {
    const auto file = example["file"].get<std::string>();
    const std::string text = read_text(test_folder() / "out" / file);
    EXPECT_NE(text.find("trace = 'flows_"), std::string::npos) << text;
    EXPECT_TRUE(example["differences"].contains("traffic.reverse")) << example.dump();
    const double unlimited = time_of(file, "--set node.nic1.nic.retransmit_buffer.entries=1048576");
    EXPECT_NEAR(time_of(file, "") / unlimited, example["score"].get<double>(), 1e-9);
  }
  EXPECT_FALSE(fs::exists(test_folder() / "a.sqlite.runs"));
}

TEST_F(Attack, ABudgetOfTimeIsUsedOnce) {
  const char* const sizes = "nic.rx_staging.bytes = 16777216\n";
  ASSERT_EQ(attack(sizes, kStall, "--budget 2s --quiet").exit_code, 0);
  const auto first = answer();
  EXPECT_GE(first["used"]["seconds"].get<double>(), 1.6);
  const ProcessResult again = attack(sizes, kStall, "--budget 2s");
  EXPECT_NE(again.out.find(": 0 runs executed"), std::string::npos) << again.out;
  EXPECT_EQ(answer(), first);
  // Four fifths of a budget are for the search.
  const double larger = first["used"]["seconds"].get<double>() / 0.8 + 1;
  const ProcessResult more = attack(sizes, kStall, fmt::format("--budget {}s", larger));
  EXPECT_EQ(more.exit_code, 0);
  EXPECT_GT(answer()["runs"], first["runs"]);
}

TEST_F(Attack, BadInputIsRefusedBeforeAnythingIsWritten) {
  const auto refusal = [&](const std::string& sizes, const std::string& envelope) {
    const ProcessResult process = attack(sizes, envelope, "--budget 10runs");
    EXPECT_EQ(process.exit_code, 2) << envelope;
    EXPECT_EQ(std::count(process.err.begin(), process.err.end(), '\n'), 1) << process.err;
    return process.err;
  };
  const auto expect = [&](const std::string& envelope, const std::string& message) {
    const std::string said = refusal("pcie.read_tags = 280\n", envelope);
    EXPECT_NE(said.find("envelope.toml" + message), std::string::npos) << said;
  };
  expect("faults = 1\n",
         ":1: unknown key faults; allowed: parameters, seeds, fault, faults_at_once, traffic; nearest: fault");
  expect("", ": declares nothing");
  expect("[parameters]\npcie.mrrs_byte = {values = [512]}\n",
         ":2: unknown key pcie.mrrs_byte; nearest: pcie.mrrs_bytes");
  expect("[parameters]\npcie.mrrs_bytes = {values = [500]}\n", ":2: pcie.mrrs_bytes = 500 is not allowed");
  expect("[parameters]\npcie.credit_return_ns = {min = 5, max = 2}\n",
         ":2: pcie.credit_return_ns: min = 5 is above max = 2");
  expect("[parameters]\npcie.credit_return_ns = {min = 5}\n", ":2: pcie.credit_return_ns: expected {min = …, max = …}");
  expect("[parameters]\npcie.credit_return_ns = {min = 5, mux = 6}\n", ":2: unknown key pcie.credit_return_ns.mux");
  expect("[parameters]\npcie.read_tags = {min = 5, max = 6}\n", ": pcie.read_tags is varied, and is one of the sizes");
  expect("[[fault]]\nkind = \"pcie_stall\"\nwhere = \"nic2\"\nat_us = 1\nfor_us = {min = 1, max = 2}\n",
         ":3: fault.where = \"nic2\" does not exist");
  expect("[[fault]]\nkind = \"link_rate\"\nwhere = \"nic0.port1\"\nat_us = 1\nshare = {min = 0, max = 1}\n",
         ":5: fault.share = 0 is outside");
  expect("[traffic]\nbytes = {min = 0, max = 9}\n", ":2: traffic.bytes = 0 is not allowed; allowed: 1");
  expect("[traffic]\npairs = [[0, 0]]\n", ":2: traffic.pairs: expected");
  expect("[seeds]\nfirst = 4\n", ":1: seeds.count is missing");
  const char* const fine = "[seeds]\ncount = 2\n";
  EXPECT_NE(
      refusal("pcie.read_tag = 280\n", fine).find("sized.toml:1: unknown key pcie.read_tag; nearest: pcie.read_tags"),
      std::string::npos);
  EXPECT_NE(refusal("nic.core_clock_ghz = 1\n", fine).find("sized.toml:1: nic.core_clock_ghz is not a size"),
            std::string::npos);
  EXPECT_NE(refusal("nic.rx_staging.bytes = 512\n", fine).find("does not hold one packet"), std::string::npos);
  EXPECT_FALSE(fs::exists(test_folder() / "a.sqlite"));
  EXPECT_FALSE(fs::exists(test_folder() / "out"));
}

TEST_F(Attack, SizeWritesWhatAttackReads) {
  const ProcessResult size =
      run_process(fmt::format("mrcsim size {} --all --buffer pcie.read_tags --buffer nic.rx_staging.bytes --seeds 1 -j "
                              "2 --quiet --db %D/a.sqlite "
                              "--write-sizes %D/sized.toml",
                              kScenario));
  ASSERT_EQ(size.exit_code, 0) << size.err;
  const BufferSizes sizes = read_sizes((test_folder() / "sized.toml").string());
  ASSERT_EQ(sizes.size(), 2U);
  write("other.toml", "mine = 1\n");
  const ProcessResult other =
      run_process(fmt::format("mrcsim size {} --all --db %D/b.sqlite --write-sizes %D/other.toml", kScenario));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(read_text(test_folder() / "other.toml"), "mine = 1\n");
}

}  // namespace
}  // namespace mrc
