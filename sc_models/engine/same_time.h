// A bound on what happens at one simulated time: a model that no longer lets time advance ends with an error that names
// what repeats, instead of never.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "mrc/types.h"

namespace mrc {

class EndlessError : public std::runtime_error {
 public:
  /// `who` is a box or a link; `time` in ps.
  EndlessError(const std::string& who, TimePs time)
      : std::runtime_error(
            fmt::format("{} repeats without end at {:.6f} us of simulated time", who, us_from_ps(time))) {}
};

/// Is asked at every kStride-th step, so that a step costs one test of its count.
class SameTimeBound {
 public:
  static constexpr std::uint64_t kStride = std::uint64_t{1} << 20;  ///< far more than any model does at one time

  static bool is_due(std::uint64_t steps) { return (steps & (kStride - 1)) == 0; }

  /// True where time has not advanced for more than `strides` calls in a row.
  bool exceeded(TimePs now, std::uint64_t strides = 1) {
    repeats_ = now == last_ ? repeats_ + 1 : 0;
    last_ = now;
    return repeats_ > strides;
  }

 private:
  TimePs last_ = kNever;
  std::uint64_t repeats_ = 0;
};

}  // namespace mrc
