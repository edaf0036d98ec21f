// Choices of the baseline transport: RoCEv2 reliable connection, go-back-N on one path.
#pragma once

#include <cstdint>

#include "mrc/types.h"

namespace mrc {

struct RcConfig {
  std::uint32_t mtu_bytes = 4096;        ///< payload bytes a packet, 256 … 4,096 (IBTA)
  std::uint32_t window_packets = 1024;   ///< sent and unacknowledged, 1 … 2^22 (assumption: MRC's MPR)
  std::uint64_t window_bytes = 0;        ///< as well in payload bytes; 0 = no such limit (assumption)
  std::uint32_t ack_every_packets = 16;  ///< responder acknowledges each n-th packet, 1 … (assumption)
  std::uint32_t timeout_exponent = 8;    ///< local ACK timeout = 4.096 us * 2^t, 0 … 31 (IBTA; value assumption)
  std::uint32_t retry_count = 7;         ///< timeouts and sequence errors in a row that are retried, 0 … 7 (IBTA)
};

/// DCQCN (SIGCOMM 2015, tables of its reaction point and notification point).
struct DcqcnConfig {
  double g = 1.0 / 256.0;                     ///< weight of a CNP in alpha (paper)
  TimePs alpha_period_ps = 55 * kPsPerUs;     ///< without a CNP alpha decays once a period (paper: K)
  TimePs increase_period_ps = 55 * kPsPerUs;  ///< of the rate timer (paper: T)
  std::uint64_t increase_bytes = 10'000'000;  ///< of the byte counter (paper: B)
  std::uint32_t fast_recovery_steps = 5;      ///< F (paper)
  double additive_gbps = 0.040;               ///< R_AI (paper)
  double hyper_gbps = 0.4;                    ///< R_HAI (assumption: ten R_AI, the paper gives no value)
  double least_rate_gbps = 0.010;             ///< (assumption)
  TimePs cnp_interval_ps = 50 * kPsPerUs;     ///< at most one CNP a flow in this time (paper)
};

/// AETH syndromes (IBTA, table of AETH syndrome values). Credits are not modelled: an ACK says 31, "unlimited".
inline constexpr std::uint8_t kRcAck = 0x1F;
inline constexpr std::uint8_t kRcNakSequenceError = 0x60;
inline constexpr std::uint8_t kRcNakRemoteAccess = 0x62;

}  // namespace mrc
