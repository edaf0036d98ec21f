// How an EV encodes the path of its packet: the bits that a NIC copies into the uSIDs of the carrier (paper 2.3). Their
// positions are unpublished, so there are two layouts (assumption).
#pragma once

#include <cstdint>

#include "mrc/types.h"

namespace mrc {

/// modulo: the plane is that of the port of the EV's profile, the uplink is the EV modulo the uplinks, so that any EV
/// names one. fields: port, uplink and the plane of each tier have bits of their own.
enum class EvLayoutKind : std::uint8_t { modulo, fields };

/// `count` bits of an EV from bit `first` on, least significant first.
struct EvBits {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  constexpr std::uint32_t mask() const { return static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1) << first; }
  constexpr std::uint32_t of(Ev ev) const { return (ev & mask()) >> first; }
  constexpr Ev put(Ev ev, std::uint32_t value) const { return (ev & ~mask()) | (value << first & mask()); }
};

/// Which of `uplinks` (at least 1) an EV takes by the layout modulo.
constexpr std::uint32_t uplink_of(Ev ev, std::uint32_t uplinks) {
  return ev % uplinks;
}
/// The EV nearest below or above `ev` that takes `uplink` by the layout modulo; `uplink` is below `uplinks`.
constexpr Ev ev_for_uplink(Ev ev, std::uint32_t uplink, std::uint32_t uplinks) {
  const std::uint64_t value = std::uint64_t{ev} - ev % uplinks + uplink;
  return static_cast<Ev>(value >> 32 == 0 ? value : value - uplinks);
}

/// Positions and widths count with `fields`; their defaults are those of one vendor's lab sample. Precondition: the
/// fields do not overlap and end at bit 31.
struct EvLayout {
  EvLayoutKind kind = EvLayoutKind::modulo;
  std::uint32_t port_bit = 0;
  std::uint32_t port_bits = 2;
  std::uint32_t destination_plane_bit = 2;  ///< of the T0 of the destination and of its downlink
  std::uint32_t uplink_bit = 5;             ///< of the T0 of the source
  std::uint32_t uplink_bits = 2;
  std::uint32_t t1_plane_bit = 7;
  std::uint32_t source_plane_bit = 10;  ///< of the T0 of the source
  std::uint32_t plane_bits = 3;         ///< of each of the three

  constexpr EvBits port() const { return {port_bit, port_bits}; }
  constexpr EvBits destination_plane() const { return {destination_plane_bit, plane_bits}; }
  constexpr EvBits uplink() const { return {uplink_bit, uplink_bits}; }
  constexpr EvBits t1_plane() const { return {t1_plane_bit, plane_bits}; }
  constexpr EvBits source_plane() const { return {source_plane_bit, plane_bits}; }

  /// The number that goes into the uSID of the T1. With fields it is what the EV says, of `uplinks` or not.
  constexpr std::uint32_t uplink_in(Ev ev, std::uint32_t uplinks) const {
    return kind == EvLayoutKind::modulo ? uplink_of(ev, uplinks) : uplink().of(ev);
  }
  /// The EV nearest to `ev` that takes `uplink`, and with fields also `plane`, whose port has the same number. Bits
  /// outside the fields stay.
  constexpr Ev ev_for(Ev ev, std::uint32_t plane, std::uint32_t uplink_number, std::uint32_t uplinks) const {
    if (kind == EvLayoutKind::modulo) return ev_for_uplink(ev, uplink_number, uplinks);
    for (const EvBits& bits : {source_plane(), t1_plane(), destination_plane(), port()}) ev = bits.put(ev, plane);
    return uplink().put(ev, uplink_number);
  }
  /// A random EV made one that leads through `plane`: any does by the layout modulo.
  constexpr Ev fitted(Ev ev, std::uint32_t plane, std::uint32_t uplinks) const {
    return kind == EvLayoutKind::modulo ? ev : ev_for(ev, plane, uplink().of(ev) % uplinks, uplinks);
  }
};

}  // namespace mrc
