// The RTL pin by pin: back-pressure on every port, resets in the middle of traffic, random initial state; with two scan
// orders a table and with one.
#include <gtest/gtest.h>

#include "Vspray_scheduler_one_order.h"
#include "cosim/bench/stream_bench.h"
#include "cosim/cosim_benches.h"
#include "cosim/spray_scheduler_model.h"

namespace mrc::cosim {
namespace {

std::unique_ptr<CosimBench> bench_with_one_order() {
  return std::make_unique<StreamBench>(
      "spray_scheduler", std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 1U,
                                                               make_spray_scheduler_dut<Vspray_scheduler_one_order>));
}

void expect_no_mismatch(CosimBench& bench, std::uint64_t count, std::uint64_t seed, bool every_bin = false) {
  CosimOptions options;
  options.count = count;
  options.seed = seed;
  const CosimReport report = bench.run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  for (const FunctionalCoverage::Point& point : report.coverage.points()) {
    for (const FunctionalCoverage::Bin& bin : point.bins) {
      EXPECT_TRUE(!every_bin || bin.hits > 0 || !bin.waiver.empty()) << point.name << ": " << bin.name;
    }
  }
}

TEST(SpraySchedulerBench, SmallBlock) {
  expect_no_mismatch(*make_bench("spray_scheduler", "small"), 60'000, 1);
}
TEST(SpraySchedulerBench, BlockOfTheDefaultSize) {
  expect_no_mismatch(*make_bench("spray_scheduler", "default"), 40'000, 2);
}
TEST(SpraySchedulerBench, OneOrderATable) {
  expect_no_mismatch(*bench_with_one_order(), 40'000, 3);
}
// Of the transfers some are set-up and orders: more than a million operations at each size.
TEST(SpraySchedulerBench, DISABLED_Million) {
  expect_no_mismatch(*make_bench("spray_scheduler", "small"), 2'000'000, 4, true);
  expect_no_mismatch(*make_bench("spray_scheduler", "default"), 3'000'000, 5);
  expect_no_mismatch(*bench_with_one_order(), 2'000'000, 6, true);
}

}  // namespace
}  // namespace mrc::cosim
