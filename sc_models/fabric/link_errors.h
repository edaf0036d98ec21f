// Frames that bit errors make useless on links, after correction: lost, or repeated by the link itself. Draws are
// keyed by link and time, so that no other link's traffic changes them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/fec.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

class LinkErrors {
 public:
  LinkErrors(const FabricConfig& fabric, std::uint64_t seed)
      : code_(fec_code(fabric.fec)), seed_(mix64(seed ^ 0xFEC0'0000'0000ULL)) {
    rates_.push_back(rate_of(fabric.bit_error_rate));
  }

  /// `changed` (numbers of links, below `link_count`) have this rate; a later call replaces an earlier one.
  void set_rate(const std::vector<std::uint32_t>& changed, double bit_error_rate, std::size_t link_count) {
    rate_of_link_.resize(link_count, 0);
    for (const std::uint32_t link : changed) rate_of_link_[link] = static_cast<std::uint32_t>(rates_.size());
    rates_.push_back(rate_of(bit_error_rate));
  }

  /// Of a frame that leaves for the `attempt`-th time (0 is the first).
  bool damages(TimePs now, std::uint32_t link, std::uint32_t bytes, std::uint32_t attempt) const {
    const std::uint64_t draw = mix64(mix64(seed_ ^ link) ^ mix64(now ^ mix64(attempt)));
    return static_cast<double>(draw >> 11) * 0x1.0p-53 <
           loss(rates_[rate_of_link_.empty() ? 0 : rate_of_link_[link]], bytes);
  }

 private:
  struct Rate {
    double bit_error_rate;
    double log_codeword_right;  ///< logarithm of the probability that a codeword is corrected; with a code
  };

  Rate rate_of(double bit_error_rate) const {
    return {bit_error_rate, code_.symbols == 0 ? 0 : std::log1p(-codeword_failure(code_, bit_error_rate))};
  }
  double loss(const Rate& rate, std::uint32_t bytes) const {
    if (code_.symbols == 0) return frame_loss(code_, rate.bit_error_rate, bytes);
    return -std::expm1((1 + (8.0 * bytes - 1) / code_.data_bits()) * rate.log_codeword_right);
  }

  FecCode code_;
  std::uint64_t seed_;
  std::vector<Rate> rates_;                  ///< the first is that of links without one of their own
  std::vector<std::uint32_t> rate_of_link_;  ///< its place in rates_; empty: all have the first
};

}  // namespace mrc
