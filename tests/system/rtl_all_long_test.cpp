// All blocks by RTL at once, long enough that windows are full and scan orders change.
#include <gtest/gtest.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(RtlAllLong, AHundredThousandPacketsWithoutAMismatch) {
  const ProcessResult run = run_process(
      "mrcsim run tb/scenarios/pair.toml --quiet --yes --rtl all --set traffic.byte_scale=0.4 --out %D/out");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto result = read_json(test_folder() / "out" / "result.json");
  const auto packets = result["packets"]["delivered"].get<double>();
  EXPECT_GE(packets, 100'000);
  double cycles = 0;
  for (const auto& row : result["rtl"]) {
    EXPECT_EQ(row["mismatches"], 0) << row;
    cycles += row["cycles"].get<double>();
  }
  EXPECT_EQ(result["rtl"].size(), 14U) << "seven blocks of two nodes";
  // Evaluated clock cycles of all of them, a packet of 4 KiB: 132.9, of which 9.7 are those of qp_scheduler, and 2 %
  // more.
  EXPECT_LT(cycles / packets, 136);
}

}  // namespace
}  // namespace mrc
