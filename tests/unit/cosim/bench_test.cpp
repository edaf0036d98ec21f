// The scoreboard with a block that is not RTL, and with a model that has no part but its core.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <set>
#include <stdexcept>

#include "cosim/bench/calibration.h"
#include "cosim/bench/spread_numbers.h"
#include "cosim/bench/stream_bench.h"

namespace mrc::cosim {
namespace {

/// Answers each number with its double, one register in between.
class Doubler : public Dut {
 public:
  explicit Doubler(std::uint64_t wrong_from) : wrong_from_(wrong_from) {
    ports.push_back(Port("in", Direction::in, in_valid_, in_ready_).field("number", in_number_));
    ports.push_back(Port("out", Direction::out, out_valid_, out_ready_).field("double", out_double_));
  }
  void set_reset(bool active) override { in_reset_ = active; }
  void low() override { in_ready_ = out_valid_ == 0 || out_ready_ != 0 ? 1 : 0; }
  void settle() override { low(); }
  void high() override {
    if (in_ready_ != 0) {
      out_valid_ = in_valid_;
      out_double_ = 2U * in_number_ + (in_number_ >= wrong_from_ ? 1 : 0);
    }
    if (in_reset_) out_valid_ = 0;
  }
  void open_waves(const std::string&) override {}
  void write_coverage(const std::string& path) override { std::ofstream(path) << ""; }

 private:
  std::uint64_t wrong_from_;
  bool in_reset_ = false;
  std::uint8_t in_valid_ = 0, in_ready_ = 0, out_valid_ = 0, out_ready_ = 0;
  std::uint32_t in_number_ = 0, out_double_ = 0;
};

class DoublerModel : public BlockModel {
 public:
  explicit DoublerModel(std::uint64_t wrong_from)
      : BlockModel([wrong_from](std::uint64_t) { return std::make_unique<Doubler>(wrong_from); }) {}
  void reset(KeyedRandom&, const Dut&) override {}
  bool offer(std::size_t, KeyedRandom& random, Transaction& values) override {
    values = {random.below(1'000)};
    return true;
  }
  void accept(std::size_t, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override {
    expected[1].push_back({2 * values[0]});
  }
};

TEST(StreamBench, AModelNeedsNoMoreThanStimulusAndReference) {
  StreamBench bench("doubler", std::make_unique<DoublerModel>(1'000));
  const CosimReport report = bench.run({.count = 5'000});
  EXPECT_EQ(report.mismatches, 0U);
  EXPECT_EQ(report.transactions, 5'000U);
}

TEST(StreamBench, AMismatchIsShortenedToTheTransferThatItNeeds) {
  StreamBench bench("doubler", std::make_unique<DoublerModel>(900));
  const CosimReport report = bench.run({.count = 5'000});
  ASSERT_EQ(report.mismatches, 1U);
  EXPECT_EQ(report.first_mismatch->port, "out");
  EXPECT_EQ(report.first_mismatch->field, "double");
  EXPECT_EQ(report.first_mismatch->actual, report.first_mismatch->expected + 1);
  EXPECT_EQ(report.replay_transfers, 1U);
}

/// Takes one stream, and never the other.
class HalfDeaf : public Dut {
 public:
  HalfDeaf() {
    ports.push_back(Port("taken", Direction::in, valid_[0], ready_[0]).field("number", number_[0]));
    ports.push_back(Port("waits", Direction::in, valid_[1], ready_[1]).field("number", number_[1]));
    state.push_back({"reason", Pin(reason_)});
  }
  void set_reset(bool) override {}
  void low() override { ready_[0] = 1; }
  void settle() override {}
  void high() override {}
  void open_waves(const std::string&) override {}
  void write_coverage(const std::string& path) override { std::ofstream(path) << ""; }

 private:
  std::array<std::uint8_t, 2> valid_{}, ready_{};
  std::array<std::uint32_t, 2> number_{};
  std::uint8_t reason_ = 7;
};

class HalfDeafModel : public BlockModel {
 public:
  HalfDeafModel() : BlockModel([](std::uint64_t) { return std::make_unique<HalfDeaf>(); }) {}
  void reset(KeyedRandom&, const Dut&) override {}
  std::uint64_t transfers_an_episode() const override { return 10'000'000; }
  bool offer(std::size_t, KeyedRandom&, Transaction& values) override {
    values = {1};
    return true;
  }
  void accept(std::size_t, const Transaction&, std::vector<std::vector<Transaction>>&) override {}
};

TEST(StreamBench, AStreamThatStarvesIsNamedWithWhatTheBlockShows) {
  StreamBench bench("half_deaf", std::make_unique<HalfDeafModel>());
  const CosimReport report = bench.run({.count = 5'000'000, .shorten = false});
  ASSERT_TRUE(report.first_mismatch);
  EXPECT_EQ(report.first_mismatch->kind, "waits while others move");
  EXPECT_EQ(report.first_mismatch->port, "waits");
  const auto& shown = report.first_mismatch->rtl;
  for (const auto& [name, value] : {std::pair{"taken.ready", 1}, {"waits.ready", 0}, {"reason", 7}}) {
    const std::pair<std::string, std::uint64_t> level(name, value);
    EXPECT_NE(std::find(shown.begin(), shown.end(), level), shown.end()) << name;
  }
}

TEST(StreamBench, PartsThatAModelDoesNotHaveAreRefused) {
  StreamBench bench("doubler", std::make_unique<DoublerModel>(1'000));
  CosimOptions options;
  options.trace.offers.push_back({0, 0, {1}});
  EXPECT_THROW(bench.run(options), std::logic_error);
  DoublerModel model(1'000);
  EXPECT_THROW(calibrate(model, {}, {}, 1), std::logic_error);
}

TEST(ReplayFile, IsReadAsItWasWritten) {
  const Doubler doubler(1'000);
  const std::string path = testing::TempDir() + "replay_file_test.replay";
  Episode episode{.seed = 7, .number = 3, .load = {0.5, 0.02}, .offers = {{0, 12, {0xFFFF'FFFF}}, {0, 14, {1}, true}}};
  episode.of_run = true;
  episode.settings["beat_bytes"] = 64;
  write_replay(path, "doubler", doubler.ports, episode, "for nothing");
  const Episode read = read_replay(path, "doubler", doubler.ports);
  EXPECT_EQ(read.seed, 7U);
  EXPECT_EQ(read.number, 3U);
  EXPECT_EQ(read.load, episode.load);
  EXPECT_EQ(read.settings, episode.settings);
  EXPECT_TRUE(read.of_run);
  ASSERT_EQ(read.offers.size(), 2U);
  EXPECT_EQ(read.offers[0].values, Transaction{0xFFFF'FFFF});
  EXPECT_EQ(read.offers[0].cycle, 12U);
  EXPECT_TRUE(read.offers[1].in_turn);
}

TEST(ReplayFile, WhatIsNoReplayIsRefusedWithItsLine) {
  const Doubler doubler(1'000);
  const std::string path = testing::TempDir() + "replay_file_test.bad";
  const std::pair<const char*, const char*> cases[] = {
      {"block tripler", "a replay of tripler, not of doubler"},
      {"seed -1", "the seed: expected a number of at most 64 bits, found -1"},
      {"load in 2", "a load is 0 to 1, not 2"},
      {"load in nan", "a load is 0 to 1, not nan"},
      {"load elsewhere 1", "the block has no port elsewhere"},
      {"setting beat_bytes", "beat_bytes is missing"},
      {"offer in", "the cycle is missing"},
      {"offer in 1", "expected number=VALUE of port in"},
      {"offer in 1 number=x", "number: expected a number of at most 64 bits, found x"},
      {"offer in 1 number=0x1ffffffff", "number does not fit"},
      {"offer in 1 number=1 more=2", "nothing may follow, but more=2 does"},
      {"offer out 1 double=2", "port out is an output of the block"},
      {"ofer in 1 number=1", "unknown ofer"},
  };
  for (const auto& [line, why] : cases) {
    std::ofstream(path) << "# a comment\n\n" << line << "\n";
    try {
      read_replay(path, "doubler", doubler.ports);
      ADD_FAILURE() << line;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(path + ":3: "), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
}

TEST(SpreadNumbers, AreAllOfThemAndTheFirstFewDifferInEachBitBySeed) {
  std::uint32_t bits = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SpreadNumbers numbers(1024, KeyedRandom(seed, "numbers"));
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < 1024; ++i) seen.insert(numbers[i]);
    ASSERT_EQ(seen.size(), 1024U);
    ASSERT_LT(*seen.rbegin(), 1024U);
    ASSERT_TRUE(std::has_single_bit(numbers[0] ^ numbers[1]));
    bits |= numbers[0] ^ numbers[1];
  }
  EXPECT_EQ(bits, 1023U);
  EXPECT_EQ(SpreadNumbers(1, KeyedRandom(1, "numbers"))[0], 0U);
}

TEST(TraceRecorder, KeepsTransfersUpToItsNumber) {
  Trace trace;
  TraceRecorder recorder(trace, 2);
  recorder.set("beat_bytes", 64);
  recorder.add(0, {1});
  recorder.add_in_turn(1, {2});
  recorder.add(0, {3});
  ASSERT_EQ(trace.offers.size(), 2U);
  EXPECT_FALSE(trace.offers[0].in_turn);
  EXPECT_TRUE(trace.offers[1].in_turn);
  EXPECT_EQ(trace.offers[1].values, Transaction{2});
  EXPECT_EQ(trace.settings.at("beat_bytes"), 64U);
  EXPECT_FALSE(TraceRecorder().records());
}

}  // namespace
}  // namespace mrc::cosim
