// SRv6 micro segments: the 128-bit carrier (F3216: 32-bit locator block, up to six 16-bit uSIDs) that defines the path
// of a packet, and the template from which a NIC computes it for a plane and an uplink without storing a path
// (paper 2.2, 2.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mrc/ev_layout.h"
#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

using Usid = std::uint16_t;
inline constexpr std::size_t kMostUsids = 6;

/// Meaning of a uSID. The numbering inside a uSID is unpublished; this one (assumption) has room for the published
/// maximum of 8 planes, 512 T0s and 256 T1s per plane, 256 NICs per T0: plane [15:13], role [12:11], index [10:0].
enum class UsidRole : std::uint8_t { t0 = 0, t1 = 1, downlink = 2 };
inline constexpr std::uint32_t kMostUsidPlanes = 8;
inline constexpr std::uint32_t kMostUsidIndex = 2047;
inline constexpr unsigned kUsidPlaneBit = 13;

constexpr Usid make_usid(std::uint32_t plane, UsidRole role, std::uint32_t index) {
  return static_cast<Usid>(plane << kUsidPlaneBit | static_cast<std::uint32_t>(role) << 11 | index);
}
constexpr std::uint32_t usid_plane(Usid usid) {
  return usid >> kUsidPlaneBit;
}
constexpr UsidRole usid_role(Usid usid) {
  return static_cast<UsidRole>(usid >> 11 & 3);
}
constexpr std::uint32_t usid_index(Usid usid) {
  return usid & kMostUsidIndex;
}

/// The first uSID of a carrier, which the next switch matches together with the locator block.
constexpr Usid active_usid(const Ipv6Address& carrier) {
  return static_cast<Usid>(carrier.high >> 16);
}
constexpr std::uint32_t locator_block(const Ipv6Address& carrier) {
  return static_cast<std::uint32_t>(carrier.high >> 32);
}
/// uN: the uSID part moves left by 16 bits, zeros follow; the locator block stays.
constexpr Ipv6Address shift_usid(const Ipv6Address& carrier) {
  const std::uint64_t block = carrier.high & 0xFFFF'FFFF'0000'0000ULL;
  return {block | (carrier.high << 16 & 0xFFFF'0000ULL) | carrier.low >> 48, carrier.low << 16};
}

/// Path to one destination, with plane and uplink left open.
struct UsidTemplate {
  static constexpr std::uint8_t kNoUplink = 0xFF;

  std::uint32_t locator = 0;
  std::array<Usid, kMostUsids> usid{};       ///< plane bits zero; index zero at the position of the uplink
  std::uint8_t count = 0;                    ///< uSIDs used, 1 … 6
  std::uint8_t uplink_position = kNoUplink;  ///< which of them receives the uplink number
  std::uint16_t uplinks = 1;                 ///< of the T0 of the source, among which the EV selects, 1 … 2,047

  /// Destination below the same T0: T0, downlink.
  static constexpr UsidTemplate same_t0(std::uint32_t locator_bits, std::uint32_t t0, std::uint32_t downlink) {
    UsidTemplate path{.locator = locator_bits, .count = 2};
    path.usid[0] = make_usid(0, UsidRole::t0, t0);
    path.usid[1] = make_usid(0, UsidRole::downlink, downlink);
    return path;
  }
  /// Destination below another T0: T0, T1 by uplink, T0, downlink.
  static constexpr UsidTemplate across_t1(std::uint32_t locator_bits, std::uint32_t own_t0, std::uint32_t peer_t0,
                                          std::uint32_t downlink) {
    UsidTemplate path{.locator = locator_bits, .count = 4, .uplink_position = 1};
    path.usid[0] = make_usid(0, UsidRole::t0, own_t0);
    path.usid[1] = make_usid(0, UsidRole::t1, 0);
    path.usid[2] = make_usid(0, UsidRole::t0, peer_t0);
    path.usid[3] = make_usid(0, UsidRole::downlink, downlink);
    return path;
  }
};

/// The carrier for one packet: the plane in every uSID, the uplink in the one at `uplink_position`.
[[gnu::always_inline]] constexpr Ipv6Address usid_carrier(const UsidTemplate& path, std::uint32_t plane,
                                                          std::uint32_t uplink) {
  std::uint64_t high = std::uint64_t{path.locator} << 32;
  std::uint64_t low = 0;
  for (std::size_t i = 0; i < path.count; ++i) {
    std::uint64_t usid = path.usid[i] | plane << kUsidPlaneBit;
    if (i == path.uplink_position) usid |= uplink;
    const std::size_t position = i + 2;
    (position < 4 ? high : low) |= usid << (48 - 16 * (position % 4));
  }
  return {high, low};
}

/// A path whose carrier is given: plane and uplink are in its uSIDs. usid_carrier(…, 0, 0) gives `carrier` again.
constexpr UsidTemplate usid_template_of(const Ipv6Address& carrier) {
  UsidTemplate path{.locator = locator_block(carrier), .count = 1};
  Ipv6Address rest = carrier;
  for (std::size_t i = 0; i < kMostUsids; ++i, rest = shift_usid(rest)) {
    path.usid[i] = active_usid(rest);
    if (path.usid[i] != 0) path.count = static_cast<std::uint8_t>(i + 1);
  }
  return path;
}

/// `path` with the planes that the fields of `ev` name, tier by tier; an EV whose planes differ leads nowhere.
constexpr UsidTemplate with_planes_of(UsidTemplate path, Ev ev, const EvLayout& layout) {
  for (std::size_t i = 0; i < path.count; ++i) {
    const EvBits bits = i == 0                      ? layout.source_plane()
                        : i == path.uplink_position ? layout.t1_plane()
                                                    : layout.destination_plane();
    path.usid[i] = static_cast<Usid>(path.usid[i] | bits.of(ev) << kUsidPlaneBit);
  }
  return path;
}

/// The carrier of a packet on `ev`, whose layout says what the EV selects: the uplink, and with fields the planes too.
[[gnu::always_inline]] constexpr Ipv6Address usid_carrier_of_ev(const UsidTemplate& path, std::uint32_t plane, Ev ev,
                                                                const EvLayout& layout) {
  const std::uint32_t uplink = layout.uplink_in(ev, path.uplinks);
  if (layout.kind == EvLayoutKind::modulo) return usid_carrier(path, plane, uplink);
  return usid_carrier(with_planes_of(path, ev, layout), 0, uplink);
}

}  // namespace mrc
