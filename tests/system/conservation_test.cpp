// Nothing is lost and nothing comes twice: what entered a part of the system left it, was lost there and counted, or is
// still in it, whenever a run is stopped; and what the receiver's memory holds in the end is what was sent.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <ostream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kFaults =
    "--set fabric.loss_rate=0.05 --set fabric.corrupt_rate=0.01 --set fabric.trim_rate=0.2 --set "
    "fabric.duplicate_rate=0.02 --set pcie.duplicate_completion_rate=0.02 ";

/// Returns the sum of all that is held, so that a test can see that it looked at a system in motion.
std::uint64_t expect_balanced(const nlohmann::json& r, const std::string& what) {
  std::uint64_t held = 0;
  EXPECT_GE(r["accounts"].size(), 11U) << what;
  for (const auto& a : r["accounts"]) {
    EXPECT_EQ(a["in"].get<std::uint64_t>(),
              a["out"].get<std::uint64_t>() + a["lost"].get<std::uint64_t>() + a["held"].get<std::uint64_t>())
        << what << ": " << a;
    held += a["held"].get<std::uint64_t>();
  }
  return held;
}

struct Stopped {
  const char* name;
  const char* arguments;
  friend void PrintTo(const Stopped& value, std::ostream* out) { *out << value.name; }
};
class Conservation : public ::testing::TestWithParam<Stopped> {};

TEST_P(Conservation, HoldsWheneverTheRunIsStopped) {
  int moving = 0;
  for (const double stop_us : {1.0, 1.437, 2.2, 3.001, 4.5, 7.77, 11.1113, 17.3, 23.0, 31.415926, 47.1, 60.6}) {
    const ProcessResult run = run_process(
        fmt::format("mrcsim run {} --quiet --out %D/out --set run.max_time_us={}", GetParam().arguments, stop_us));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto r = read_json(test_folder() / "out" / "result.json");
    EXPECT_EQ(r["status"], "partial");
    EXPECT_DOUBLE_EQ(r["simulated_time_us"].get<double>(), stop_us);
    moving += expect_balanced(r, fmt::format("stopped at {} us", stop_us)) > 0 ? 1 : 0;
  }
  EXPECT_GE(moving, 4) << "stops that found something under way";
}

INSTANTIATE_TEST_SUITE_P(
    Of, Conservation,
    ::testing::Values(
        Stopped{"OneWay", "tb/scenarios/pair.toml --set host.payload=reference"},
        Stopped{"BothWays", "tb/scenarios/ring.toml --set host.payload=reference"},
        Stopped{"Faults",
                "tb/scenarios/ring.toml --set fabric.loss_rate=0.05 --set fabric.corrupt_rate=0.01 --set "
                "fabric.trim_rate=0.2 --set fabric.duplicate_rate=0.02"},
        Stopped{"RefusalsOfTheReceiver",
                "tb/scenarios/pair.toml --set nic.rx_staging.bytes=4096 --set nic.dma_write.queue_entries=1 --set "
                "nic.psn_tracker.bitmap_banks=2 --set fabric.loss_rate=0.01"},
        Stopped{"Overruns",
                "tb/scenarios/pair.toml --set node.nic1.nic.parser.latency_cycles=200 --set "
                "node.nic1.nic.psn_tracker.queue_entries=1"},
        Stopped{"PayloadStore",
                "tb/scenarios/pair.toml --set nic.retransmit_buffer.store=payload --set fabric.loss_rate=0.02"},
        Stopped{"ManyQps", "tb/scenarios/many_qps.toml"}, Stopped{"Inline", "tb/scenarios/ping_pong.toml"}),
    [](const auto& instance) { return instance.param.name; });

class AllFaults : public ::testing::TestWithParam<int> {};

/// 5 % loss, 1 % corruption, 20 % trimming and 2 % duplicates at once, both ways, every byte compared.
TEST_P(AllFaults, NothingLostNothingTwiceMemoryEqual) {
  const ProcessResult run = run_process(
      fmt::format("mrcsim run tb/scenarios/ring.toml --quiet --out %D/out --set traffic.byte_scale=0.25 {} --seed {}",
                  kFaults, GetParam()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(test_folder() / "out" / "result.json");
  expect_balanced(r, "at the end");
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["messages"]["completed"], r["messages"]["count"]);
  EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  std::uint64_t duplicated = 0;
  for (const auto& link : r["pcie"]) duplicated += link["duplicated_completions"].get<std::uint64_t>();
  EXPECT_GT(duplicated, 0U);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  for (const char* counter : {"dropped", "trimmed", "corrupted", "duplicate", "retransmitted"})
    EXPECT_GT(r["packets"][counter], 0) << counter;
  // Every packet was placed once, however often it was sent.
  EXPECT_EQ(r["packets"]["delivered"].get<std::uint64_t>(),
            r["packets"]["sent"].get<std::uint64_t>() - r["packets"]["retransmitted"].get<std::uint64_t>());
}

INSTANTIATE_TEST_SUITE_P(Seed, AllFaults, ::testing::Values(1, 2, 3, 4, 5, 6));

}  // namespace
}  // namespace mrc
