// Choices of the baseline transport: RoCEv2 reliable connection, go-back-N on one path. Ranges and sources are in the
// parameter registry.
#pragma once

#include <cstdint>

#include "mrc/types.h"

namespace mrc {

struct RcConfig {
  std::uint32_t mtu_bytes = 4096;        ///< payload bytes per packet
  std::uint32_t window_packets = 1024;   ///< sent and unacknowledged; as MRC's MPR
  std::uint64_t window_bytes = 0;        ///< the same in payload bytes; 0 = no limit
  std::uint32_t ack_every_packets = 16;  ///< the responder acknowledges every n-th packet
  std::uint32_t reorder_packets = 0;     ///< so far ahead of the expected PSN a packet is placed; 0: in order only
  std::uint32_t timeout_exponent = 8;    ///< local ACK timeout = 4.096 us * 2^t
  std::uint32_t retry_count = 7;         ///< timeouts and sequence errors in a row that are retried
};

/// DCQCN (SIGCOMM 2015, tables of its reaction point and notification point).
struct DcqcnConfig {
  double g = 1.0 / 256.0;                     ///< weight of a CNP in alpha
  TimePs alpha_period_ps = 55 * kPsPerUs;     ///< K: without a CNP alpha decays once per period
  TimePs increase_period_ps = 55 * kPsPerUs;  ///< T: of the rate timer
  std::uint64_t increase_bytes = 10'000'000;  ///< B: of the byte counter
  std::uint32_t fast_recovery_steps = 5;      ///< F
  double additive_gbps = 0.040;               ///< R_AI
  double hyper_gbps = 0.4;                    ///< R_HAI: ten R_AI, as the paper gives no value
  double least_rate_gbps = 0.010;             ///< minimum rate of a flow
  TimePs cnp_interval_ps = 50 * kPsPerUs;     ///< at most one CNP per flow in this time
};

/// AETH syndromes (IBTA, table of AETH syndrome values). Credits are not modelled: an ACK has 31, "unlimited".
inline constexpr std::uint8_t kRcAck = 0x1F;
inline constexpr std::uint8_t kRcNakSequenceError = 0x60;
inline constexpr std::uint8_t kRcNakRemoteAccess = 0x62;

}  // namespace mrc
