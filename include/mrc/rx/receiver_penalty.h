// The back-pressure that a responder requests in its SACKs (rcv_cwnd_pen) as a function of the fill level of the NIC's
// receive buffer. The specification defines the field and the reaction of a sender; the function is an assumption.
#pragma once

#include <cstdint>

#include "mrc/protocol_config.h"

namespace mrc {

inline constexpr std::uint8_t kLargestPenalty = 127;

/// 0 up to `penalty_start_share` of `capacity`, from there linear to 127 at `penalty_full_share`; 0 while that is 0.
inline std::uint8_t receiver_penalty(std::uint64_t occupied, std::uint64_t capacity, const ProtocolConfig& config) {
  if (config.penalty_full_share <= 0) return 0;
  const double share = static_cast<double>(occupied) / static_cast<double>(capacity);
  if (share >= config.penalty_full_share) return kLargestPenalty;
  if (share <= config.penalty_start_share) return 0;
  const double slope = kLargestPenalty / (config.penalty_full_share - config.penalty_start_share);
  return static_cast<std::uint8_t>((share - config.penalty_start_share) * slope);
}

}  // namespace mrc
