// A resource with a fixed rate that is used at times which are not in order: a request that has waited for its address
// translation comes later than one that was booked after it. Time is kept in slices, and each use takes what is free of
// them from its own time on. Within one slice the order is not kept, so that an end may be early by less than a slice.
// Others may use a share of it in bursts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>

#include "mrc/types.h"

namespace mrc {

class SharedRate {
 public:
  /// What others take: a share of the rate in the first `burst` of each `period`; without a period always.
  struct Bursts {
    double share = 0;
    TimePs burst = 0;
    TimePs period = 0;
  };

  /// Gb/s; 0: not limited.
  explicit SharedRate(double gbps) : SharedRate(gbps, {}) {}
  SharedRate(double gbps, const Bursts& others) : ps_per_byte_(gbps > 0 ? 8000.0 / gbps : 0), others_(others) {}

  bool limited() const { return ps_per_byte_ > 0; }
  TimePs duration(std::uint64_t bytes) const {
    return static_cast<TimePs>(std::llround(static_cast<double>(bytes) * ps_per_byte_));
  }
  /// No later use begins before `time`.
  void forget_before(TimePs time) {
    for (; !used_.empty() && (first_ + 1) * kSlicePs <= time; ++first_) used_.pop_front();
    if (used_.empty()) first_ = std::max(first_, time / kSlicePs);
    full_before_ = std::max(full_before_, first_);
  }
  /// When `bytes` that come at `time` have passed: at once where it is not limited.
  TimePs pass(TimePs time, std::uint64_t bytes) {
    TimePs left = duration(bytes);
    TimePs end = time;
    std::uint64_t slice = std::max(time / kSlicePs, full_before_);
    while (left > 0) {
      TimePs& used = slice_at(slice);
      const TimePs from = std::max(time, slice * kSlicePs);
      const TimePs taken = std::min({left, kSlicePs - used, (slice + 1) * kSlicePs - from});
      if (taken > 0) end = std::max(from, slice * kSlicePs + used) + taken;
      used += taken;
      left -= taken;
      ++slice;
    }
    while (full_before_ < first_ + used_.size() && used_[full_before_ - first_] >= kSlicePs) ++full_before_;
    return std::max(end, time);
  }

 private:
  static constexpr TimePs kSlicePs = 16'384;

  TimePs& slice_at(std::uint64_t slice) {
    while (first_ + used_.size() <= slice) used_.push_back(used_by_others(first_ + used_.size()));
    return used_[slice - first_];
  }
  TimePs used_by_others(std::uint64_t slice) const {
    const bool in_burst = others_.period == 0 || slice * kSlicePs % others_.period < others_.burst;
    return in_burst ? static_cast<TimePs>(others_.share * static_cast<double>(kSlicePs)) : 0;
  }

  double ps_per_byte_;
  Bursts others_;
  std::uint64_t first_ = 0;
  std::uint64_t full_before_ = 0;  ///< all slices before this one are full, or forgotten
  std::deque<TimePs> used_;        ///< of each slice from first_ on
};

}  // namespace mrc
