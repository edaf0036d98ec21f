// Mean and quantiles of times, as results give them.
#pragma once

#include <vector>

#include "mrc/types.h"
#include "results/run_result.h"

namespace mrc {

inline double to_us(TimePs time) {
  return static_cast<double>(time) / static_cast<double>(kPsPerUs);
}

/// Both of sorted times; precondition: not empty.
RunResult::MessageTime spread_of(const std::vector<TimePs>& times);
/// The distribution in steps of 1 %, finer at its upper end.
std::vector<RunResult::Quantile> quantiles_of(const std::vector<TimePs>& times);

}  // namespace mrc
