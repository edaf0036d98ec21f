// Contracts: a block that keeps its contract passes, whatever its pipeline; each line that it breaks is named.
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <stdexcept>
#include <string>

#include "cosim/bench/stream_bench.h"
#include "cosim/contract.h"

namespace mrc::cosim {
namespace {

/// How the block below behaves.
struct Traits {
  std::uint64_t latency = 2;
  std::size_t places = 2;
  std::uint64_t interval = 1;
  std::uint64_t initialization = 0;
  bool ready_follows_output = true;  ///< within the cycle
  bool valid_waits_for_ready = false;
  bool synchronous_reset = false;
  std::uint64_t reset_edges = 1;  ///< until it is clear, with a synchronous reset
  bool swaps = false;             ///< the order of two outputs that wait
};

/// Answers each number with its double.
class Machine : public Dut {
 public:
  explicit Machine(const Traits& traits) : traits_(traits) {
    ports.push_back(Port("in", Direction::in, in_valid_, in_ready_).field("number", in_number_).field("tag", in_tag_));
    ports.push_back(Port("out", Direction::out, out_valid_, out_ready_)
                        .field("double", out_double_)
                        .field("tag", out_tag_)
                        .field("zero", zero_));
  }
  void set_reset(bool active) override {
    reset_ = active;
    edges_in_reset_ = 0;
    if (active && !traits_.synchronous_reset) clear();
  }
  void settle() override { low(); }
  void low() override {
    const bool due = !held_.empty() && now_ >= held_.front().due;
    out_valid_ = due && (!traits_.valid_waits_for_ready || out_ready_ != 0) ? 1 : 0;
    if (due) {
      out_double_ = 2 * held_.front().number;
      out_tag_ = held_.front().tag;
    }
    const bool leaves = traits_.ready_follows_output && due && out_ready_ != 0;
    const bool has_place = held_.size() - (leaves ? 1 : 0) < traits_.places;
    in_ready_ = has_place && now_ >= traits_.initialization && now_ >= next_ ? 1 : 0;
  }
  void high() override {
    if (reset_) {
      if (++edges_in_reset_ >= traits_.reset_edges) clear();
      return;
    }
    if (out_valid_ != 0 && out_ready_ != 0) held_.pop_front();
    if (in_valid_ != 0 && in_ready_ != 0) {
      held_.push_back({in_number_, in_tag_, now_ + traits_.latency});
      next_ = now_ + traits_.interval;
      if (traits_.swaps && held_.size() == 2 && held_[0].due > now_) {
        std::swap(held_[0].number, held_[1].number);
        std::swap(held_[0].tag, held_[1].tag);
      }
    }
    ++now_;
    // What is registered is on the wires after the edge.
    if (!traits_.valid_waits_for_ready) out_valid_ = !held_.empty() && now_ >= held_.front().due ? 1 : 0;
  }
  void open_waves(const std::string&) override {}
  void write_coverage(const std::string& path) override { std::ofstream(path) << ""; }

 private:
  struct Held {
    std::uint32_t number, tag;
    std::uint64_t due;
  };
  void clear() {
    held_.clear();
    now_ = next_ = 0;
    out_valid_ = 0;
  }

  Traits traits_;
  std::deque<Held> held_;
  std::uint64_t now_ = 0, next_ = 0, edges_in_reset_ = 0;
  bool reset_ = false;
  std::uint8_t in_valid_ = 0, in_ready_ = 0, out_valid_ = 0, out_ready_ = 0, zero_ = 0;
  std::uint32_t in_number_ = 0, in_tag_ = 0, out_double_ = 0, out_tag_ = 0;
};

class MachineModel : public BlockModel {
 public:
  explicit MachineModel(const Traits& traits)
      : BlockModel([traits](std::uint64_t) { return std::make_unique<Machine>(traits); }) {}
  void reset(KeyedRandom&, const Dut&) override { tag_ = 0; }
  bool offer(std::size_t, KeyedRandom& random, Transaction& values) override {
    values = {random.below(1'000'000), ++tag_};
    return true;
  }
  void accept(std::size_t, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override {
    expected[1].push_back({2 * values[0], values[1], 0});
  }

 private:
  bool depends_on_cycles_;
  std::uint64_t tag_ = 0;
};

constexpr const char* kKept = R"(cycles = "ranges"
[reset]
kind = "asynchronous"
initialization_cycles = { at_most = 0 }
[ready]
in = ["out.ready"]
[[way]]
from = "in"
to = "out"
latency_cycles = { at_least = 2, at_most = 2 }
interval_cycles = { at_least = 1, at_most = 1 }
order = "in_order"
places = 2
)";

/// The first mismatch, or "kept".
std::string verdict(const Traits& traits, const std::string& contract = kKept) {
  StreamBench bench("machine", std::make_unique<MachineModel>(traits), parse_contract(contract, "c.toml"));
  const CosimReport report = bench.run({.count = 40'000});
  return report.first_mismatch ? report.first_mismatch->line() : "kept";
}

TEST(Contract, ABlockThatKeepsItPassesWhateverItsPipelineIs) {
  EXPECT_EQ(verdict({}), "kept");
  std::string deep = kKept;
  deep.replace(deep.find("at_least = 2, at_most = 2"), 25, "at_least = 7, at_most = 7");
  deep.replace(deep.find("places = 2"), 10, "places = 9");
  deep.replace(deep.find("[\"out.ready\"]"), 13, "[]");
  EXPECT_EQ(verdict({.latency = 7, .places = 9, .ready_follows_output = false}, deep), "kept");
}

struct Broken {
  const char* name;
  Traits traits;
  const char* says;
};

class BrokenContract : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenContract, IsNamedByItsLine) {
  const std::string found = verdict(GetParam().traits);
  EXPECT_NE(found.find(GetParam().says), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Of, BrokenContract,
    ::testing::Values(
        Broken{"latency_below", {.latency = 1}, "out.latency_cycles breaks c.toml:10 (at least 2), RTL gave 1"},
        Broken{"latency_above",
               {.latency = 4, .places = 4},
               "out.latency_cycles breaks c.toml:10 (at most 2), RTL gave 4"},
        Broken{"interval", {.interval = 2}, "in.interval_cycles breaks c.toml:11 (at most 1), RTL gave 2"},
        Broken{"places", {.places = 3}, "in.places breaks c.toml:13 (at most 2 that wait for out), RTL gave 3"},
        Broken{"initialization", {.initialization = 9}, "in.initialization_cycles breaks c.toml:4 (at most 0)"},
        Broken{"reset", {.synchronous_reset = true}, "out.reset.kind breaks c.toml:3 (asynchronous"},
        Broken{"valid", {.valid_waits_for_ready = true}, "out.valid breaks c.toml (valid does not depend on the ready"},
        Broken{"order", {.swaps = true}, "out.double is out of order: "}),
    [](const auto& broken) { return std::string(broken.param.name); });

TEST(Contract, AReadyThatDependsOnWhatItMayNotIsNamed) {
  std::string registered = kKept;
  registered.replace(registered.find("[\"out.ready\"]"), 13, "[\"in.valid\"]");
  EXPECT_NE(verdict({}, registered).find("in.ready breaks c.toml:6 (ready does not depend on out.ready)"),
            std::string::npos);
}

TEST(Contract, AResetThatTakesLongerIsNamedWithOrWithoutItsKeys) {
  const Traits slow{.synchronous_reset = true, .reset_edges = 3};
  EXPECT_EQ(verdict(slow, "[reset]\nactive = \"low\"\ncycles = 3"), "kept");
  for (const auto& [contract, says] : {
           std::pair{"[reset]\nactive = \"low\"\ncycles = 2", "reset.cycles breaks c.toml:3 (no valid output after 2"},
           std::pair{"[reset]\nkind = \"synchronous\"", "reset.cycles breaks c.toml:1 (no valid output after 2"},
           std::pair{"cycles = \"ranges\"", "reset.cycles breaks c.toml (no valid output after 2"},
       }) {
    const std::string found = verdict(slow, contract);
    EXPECT_NE(found.find(says), std::string::npos) << found;
  }
}

TEST(Contract, WhatIsNoContractIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"cycles = \"some\"", "c.toml:1: cycles: allowed: data_sheet, ranges"},
      {"cycle = \"ranges\"", "c.toml:1: cycle: unknown; allowed: cycles, "},
      {"\n[reset]\ncycles = 0", "c.toml:3: reset.cycles: allowed: a number from 1 to 16"},
      {"[reset]\nkind = \"lazy\"", "c.toml:2: reset.kind: allowed: asynchronous, synchronous"},
      {"[ready]\nin = \"out.ready\"", "c.toml:2: ready.in: allowed: a list"},
      {"[[way]]\nfrom = \"in\"", "c.toml:1: way.to: a text is needed"},
      {"[[way]]\nfrom = \"in\"\nto = \"out\"\nlatency_cycles = 3", "c.toml:4: way.latency_cycles: allowed: { at_least"},
      {"[[way]]\nfrom = \"in\"\nto = \"out\"\nlatency_cycles = { at_least = 3, at_most = 2 }",
       "at_least is above at_most"},
      {"[[way]]\nfrom = \"in\"\nto = \"out\"\norder = \"any\"", "c.toml:4: way.order: allowed: in_order"},
      {"[reset", "c.toml"},
  };
  for (const auto& [text, why] : cases) {
    try {
      parse_contract(text, "c.toml");
      ADD_FAILURE() << text;
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
  }
  const auto bench = [](const char* text) {
    return StreamBench("machine", std::make_unique<MachineModel>(Traits{}), parse_contract(text, "c.toml"))
        .run({.count = 1});
  };
  EXPECT_THROW(bench("[ready]\nin = [\"exit.ready\"]"), std::invalid_argument);
  EXPECT_THROW(bench("[[way]]\nfrom = \"in\"\nto = \"exit\""), std::invalid_argument);
}

}  // namespace
}  // namespace mrc::cosim
