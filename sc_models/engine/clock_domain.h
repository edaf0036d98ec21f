// A clock as a period, and the arithmetic from cycles and bits to time. There is no clock event: service times are
// computed.
#pragma once

#include <cmath>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

class ClockDomain {
 public:
  /// `frequency_ghz` in 0.001 … 100; the period is rounded to a picosecond.
  explicit ClockDomain(double frequency_ghz) : period_ps_(static_cast<TimePs>(std::llround(1000.0 / frequency_ghz))) {}

  TimePs period_ps() const { return period_ps_; }
  TimePs cycles(std::uint64_t n) const { return n * period_ps_; }
  /// First edge at or after `time`.
  TimePs edge(TimePs time) const { return (time + period_ps_ - 1) / period_ps_ * period_ps_; }
  /// Number of the first edge at or after `time`.
  std::uint64_t edge_index(TimePs time) const { return (time + period_ps_ - 1) / period_ps_; }

 private:
  TimePs period_ps_;
};

/// Beats that `bytes` take on a datapath of `width_bits`, at least one.
constexpr std::uint64_t beats(std::uint64_t bytes, std::uint32_t width_bits) {
  const std::uint64_t width_bytes = width_bits / 8;
  const std::uint64_t n = (bytes + width_bytes - 1) / width_bytes;
  return n == 0 ? 1 : n;
}

}  // namespace mrc
