// A line that carries bytes one after another at a fixed rate. Time accumulates from the moment the line was last idle
// and is rounded once, never per item, so that long trains keep the exact rate.
#pragma once

#include <cmath>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

class SerialLine {
 public:
  explicit SerialLine(double gbps) : ps_per_byte_(8000.0 / gbps) {}

  /// Earliest start of an item that arrives at `time`.
  TimePs start(TimePs time) const { return time > free_at_ ? time : free_at_; }
  TimePs free_at() const { return free_at_; }
  /// Puts `bytes` on the line at `time` or when it is free; returns when the last bit has left.
  TimePs occupy(TimePs time, std::uint64_t bytes) {
    if (time > free_at_) {
      epoch_ = time;
      bytes_since_epoch_ = 0;
    }
    bytes_since_epoch_ += bytes;
    // Rounded by hand: below 2^51 ps the sum is exact, and the library's function is a call.
    const double sum = static_cast<double>(static_cast<std::int64_t>(bytes_since_epoch_)) * ps_per_byte_ + 0.5;
    free_at_ = epoch_ + static_cast<TimePs>(static_cast<std::int64_t>(sum));
    return free_at_;
  }
  /// Changes the rate for later items.
  void set_gbps(double gbps) {
    ps_per_byte_ = 8000.0 / gbps;
    epoch_ = free_at_;
    bytes_since_epoch_ = 0;
  }
  /// Nothing starts for `time` longer.
  void hold(TimePs time) {
    epoch_ = free_at_ += time;
    bytes_since_epoch_ = 0;
  }
  /// Time that `bytes` take, rounded up to a picosecond.
  TimePs duration(std::uint64_t bytes) const {
    return static_cast<TimePs>(std::ceil(static_cast<double>(bytes) * ps_per_byte_));
  }

 private:
  double ps_per_byte_;
  TimePs epoch_ = 0;
  TimePs free_at_ = 0;
  std::uint64_t bytes_since_epoch_ = 0;
};

}  // namespace mrc
