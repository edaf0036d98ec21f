// Frames that bit errors make useless on links, after correction: lost, or repeated by the link itself. Draws are
// keyed by link and time, so that no other link's traffic changes them.
#pragma once

#include <cmath>
#include <cstdint>

#include "fabric/fec.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

class LinkErrors {
 public:
  LinkErrors(const FabricConfig& fabric, std::uint64_t seed)
      : code_(fec_code(fabric.fec)),
        bit_error_rate_(fabric.bit_error_rate),
        log_codeword_right_(code_.symbols == 0 ? 0 : std::log1p(-codeword_failure(code_, bit_error_rate_))),
        seed_(mix64(seed ^ 0xFEC0'0000'0000ULL)) {}

  /// Of a frame that leaves for the `attempt`-th time (0 is the first).
  bool damages(TimePs now, std::uint32_t link, std::uint32_t bytes, std::uint32_t attempt) const {
    const std::uint64_t draw = mix64(mix64(seed_ ^ link) ^ mix64(now ^ mix64(attempt)));
    return static_cast<double>(draw >> 11) * 0x1.0p-53 < loss(bytes);
  }

 private:
  double loss(std::uint32_t bytes) const {
    if (code_.symbols == 0) return frame_loss(code_, bit_error_rate_, bytes);
    return -std::expm1((1 + (8.0 * bytes - 1) / code_.data_bits()) * log_codeword_right_);
  }

  FecCode code_;
  double bit_error_rate_;
  double log_codeword_right_;  ///< logarithm of the probability that a codeword is corrected
  std::uint64_t seed_;
};

}  // namespace mrc
