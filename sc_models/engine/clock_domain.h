// A clock as a period, and the arithmetic from cycles and bits to time. There is no clock event: service times are
// computed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

class ClockDomain {
 public:
  /// `frequency_ghz` in 0.001 … 100; the period is rounded to a picosecond.
  explicit ClockDomain(double frequency_ghz)
      : period_ps_(static_cast<TimePs>(std::llround(1000.0 / frequency_ghz))), inverse_(~TimePs{0} / period_ps_) {}

  TimePs period_ps() const { return period_ps_; }
  TimePs cycles(std::uint64_t n) const { return n * period_ps_; }
  /// First edge at or after `time`.
  TimePs edge(TimePs time) const { return edge_index(time) * period_ps_; }
  /// Number of the first edge at or after `time`.
  std::uint64_t edge_index(TimePs time) const { return whole_periods(time + period_ps_ - 1); }

 private:
  __extension__ using Product = unsigned __int128;
  /// A division of 64 bits takes a processor several times as long: the product is the quotient, or one less.
  std::uint64_t whole_periods(TimePs time) const {
    const auto least = static_cast<std::uint64_t>(Product{time} * inverse_ >> 64);
    return least + (time - least * period_ps_ >= period_ps_ ? 1 : 0);
  }

  TimePs period_ps_;
  TimePs inverse_;  ///< 2^64 / period
};

/// Beats that `bytes` take on a datapath of `width_bits`, at least one.
constexpr std::uint64_t beats(std::uint64_t bytes, std::uint32_t width_bits) {
  const std::uint64_t width_bytes = width_bits / 8;
  const std::uint64_t last = bytes + width_bytes - 1;
  // Most widths are powers of two; a division takes many times as long.
  const bool is_power_of_two = (width_bytes & (width_bytes - 1)) == 0;
  const std::uint64_t n = is_power_of_two ? last >> std::countr_zero(width_bytes) : last / width_bytes;
  return n == 0 ? 1 : n;
}

}  // namespace mrc
