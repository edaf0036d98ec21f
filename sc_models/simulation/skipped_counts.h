// What a node would have counted in the time that its run skipped (run.fast_forward_percent).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mrc/control/congestion.h"
#include "nic/nic_context.h"

namespace mrc {

struct SkippedCounts {
  NodeCounters counters;
  BoxCounters of_boxes;
  std::vector<TimePs> slow_ps;                            ///< by port
  std::array<TimePs, kCutCauses> retransmission_ps = {};  ///< by CutCause
};

/// The counters of a structure that has nothing else.
template <typename Counters>
std::span<std::uint64_t> values_of(Counters& counters) {
  static_assert(std::is_trivially_copyable_v<Counters> && sizeof(Counters) % sizeof(std::uint64_t) == 0);
  return {reinterpret_cast<std::uint64_t*>(&counters), sizeof(Counters) / sizeof(std::uint64_t)};
}

/// Adds `times` what was counted from `before` to `after`, rounded.
inline void add_growth(std::span<std::uint64_t> to, std::span<const std::uint64_t> before,
                       std::span<const std::uint64_t> after, double times) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] += static_cast<std::uint64_t>(std::llround(static_cast<double>(after[i] - before[i]) * times));
}

template <typename Counters>
Counters sum_of(Counters counted, Counters skipped) {
  const std::span<std::uint64_t> sum = values_of(counted);
  const std::span<std::uint64_t> more = values_of(skipped);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  return counted;
}

}  // namespace mrc
