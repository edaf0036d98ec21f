// Units and sequence arithmetic, shared by all rings.
#pragma once

#include <cstdint>
#include <limits>

namespace mrc {

/// Simulated time in picoseconds since the start of the run. 2^64 ps is 213 days.
using TimePs = std::uint64_t;
inline constexpr TimePs kNever = std::numeric_limits<TimePs>::max();
inline constexpr TimePs kPsPerNs = 1'000;
inline constexpr TimePs kPsPerUs = 1'000'000;

/// The nearest picosecond.
constexpr TimePs ps_from_ns(double ns) {
  return static_cast<TimePs>(ns * static_cast<double>(kPsPerNs) + 0.5);
}
constexpr TimePs ps_from_us(double us) {
  return static_cast<TimePs>(us * static_cast<double>(kPsPerUs) + 0.5);
}
constexpr double us_from_ps(TimePs time) {
  return static_cast<double>(time) / static_cast<double>(kPsPerUs);
}

/// Entropy value: the 32-bit path selector of a packet, echoed in SACK and NACK (OCP MRC 1.0).
using Ev = std::uint32_t;
/// Position of an EV in its profile, 0 … ev_count - 1.
using EvIndex = std::uint16_t;
inline constexpr EvIndex kNoEv = 0xFFFF;

/// Queue pair number, 24 bits; 0, 1 and 2 are reserved (OCP MRC 1.0).
using QpNumber = std::uint32_t;
/// Of a NIC's first QP; the others follow.
inline constexpr QpNumber kFirstQpNumber = 16;

/// Position of a node (NIC) in the scenario: nic<NodeId>.
using NodeId = std::uint32_t;

/// Packet sequence number, 24 bits, modular (BTH).
using Psn = std::uint32_t;
inline constexpr Psn kPsnMask = 0xFF'FFFF;

/// `psn` plus `delta` packets, modulo 2^24.
constexpr Psn psn_add(Psn psn, std::int64_t delta) {
  return static_cast<Psn>((psn + static_cast<std::uint64_t>(delta)) & kPsnMask);
}

/// Distance of `a` ahead of `b` in 24-bit modular arithmetic: -2^23 … 2^23 - 1.
constexpr std::int32_t psn_distance(Psn a, Psn b) {
  return static_cast<std::int32_t>(((a - b) & kPsnMask) << 8) >> 8;
}

/// PSNs per unit of MPR in SACK.mpr and in the QP attributes (OCP MRC 1.0).
inline constexpr std::uint32_t kMprUnitPsns = 128;

}  // namespace mrc
