// Mean and quantiles of times, as results give them.
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/types.h"

namespace mrc {

/// Of a number of times, in us. All 0 without any.
struct TimeSpread {
  std::uint64_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
  double max = 0;
};
/// `share` 0 … 1 of the times are `us` or less.
struct TimeQuantile {
  double share = 0;
  double us = 0;
};

/// Both of sorted times.
TimeSpread spread_of(const std::vector<TimePs>& times);
/// The distribution in steps of 1 %, finer at its upper end. Empty without times.
std::vector<TimeQuantile> quantiles_of(const std::vector<TimePs>& times);

}  // namespace mrc
