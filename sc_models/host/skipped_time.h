// Time of a run that is not simulated, because its traffic is steady (run.fast_forward_percent). The kernel's clock
// does not have it: a time of the kernel and the same time of the run differ by what was skipped before.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "mrc/types.h"

namespace mrc {

class SkippedTime {
 public:
  /// `at`: by the kernel's clock, not before that of the call before.
  void add(TimePs at, TimePs skipped) { skips_.emplace_back(at, total() + skipped); }
  TimePs total() const { return skips_.empty() ? 0 : skips_.back().second; }
  /// The run's time at a time of the kernel; of kNever, kNever.
  TimePs run_time(TimePs kernel) const {
    if (skips_.empty() || kernel == kNever) return kernel;
    const auto after = std::upper_bound(skips_.begin(), skips_.end(), kernel,
                                        [](TimePs time, const auto& skip) { return time < skip.first; });
    return after == skips_.begin() ? kernel : kernel + (after - 1)->second;
  }
  /// The kernel's time at a time of the run that is still to come; 0 where it has been skipped.
  TimePs kernel_time(TimePs run) const { return run > total() ? run - total() : 0; }

 private:
  std::vector<std::pair<TimePs, TimePs>> skips_;  ///< kernel's time, skipped up to then
};

}  // namespace mrc
