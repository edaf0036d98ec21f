// A random run of a block's bench that must not find anything.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "cosim/bench/stream_bench.h"

namespace mrc::cosim {

enum class Bins : bool { any, all };  ///< of the functional coverage that must be hit or waived

inline void expect_no_mismatch(StreamBench& bench, std::uint64_t transfers, std::uint64_t seed, Bins bins = Bins::any) {
  CosimOptions options;
  options.count = transfers;
  options.seed = seed;
  const CosimReport report = bench.run(options);
  EXPECT_EQ(report.mismatches, 0U) << report.first_mismatch->line();
  EXPECT_GE(report.transactions, transfers);
  if (bins == Bins::any) return;
  for (const FunctionalCoverage::Point& point : report.coverage.points()) {
    for (const FunctionalCoverage::Bin& bin : point.bins) {
      EXPECT_TRUE(bin.hits > 0 || !bin.waiver.empty()) << point.name << ": " << bin.name;
    }
  }
}

}  // namespace mrc::cosim
