// The headers that srv6_encap puts before a packet (IPv6 in IPv6, RFC 8200 layout; a segment routing header with one
// segment, RFC 8754): the reference for their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mrc/packet.h"
#include "mrc/srv6_usid.h"
#include "mrc/wire/headers.h"

namespace mrc {

using OuterHeaderBytes = std::array<std::byte, kIpv6HeaderBytes>;
using SrhBytes = std::array<std::byte, kSrhBytes>;

/// Input values of the header.
struct Srv6EncapInput {
  UsidTemplate path;
  Ipv6Address source;            ///< address of the NIC's port
  std::uint32_t flow_label = 0;  ///< 20 bits; 0 in SRv6 mode (assumption: no switch hashes it)
  std::uint32_t uplink = 0;
  std::uint16_t payload_length = 0;  ///< bytes after the outer header
  std::uint8_t plane = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t dscp = 0;  ///< 6 bits
  Ecn ecn = Ecn::ect0;
  bool srh = false;   ///< a segment routing header follows, with the same address as its segment
  bool icrc = false;  ///< the packet comes without its ICRC, which is appended; `payload_length` counts it
};

constexpr OuterHeaderBytes outer_ipv6_header(const Srv6EncapInput& in) {
  OuterHeaderBytes bytes{};
  const auto put = [&bytes](std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i)
      bytes[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)) & 0xFF);
  };
  const std::uint32_t traffic_class = std::uint32_t{in.dscp} << 2 | static_cast<std::uint32_t>(in.ecn);
  const Ipv6Address carrier = usid_carrier(in.path, in.plane, in.uplink);
  put(0, 6ULL << 28 | traffic_class << 20 | (in.flow_label & 0xF'FFFF), 4);
  put(4, in.payload_length, 2);
  put(6, in.srh ? wire::kNextHeaderRouting : wire::kNextHeaderIpv6InIp, 1);
  put(7, in.hop_limit, 1);
  put(8, in.source.high, 8);
  put(16, in.source.low, 8);
  put(24, carrier.high, 8);
  put(32, carrier.low, 8);
  return bytes;
}

/// The header after the outer header with `srh`.
inline SrhBytes segment_routing_header(const Srv6EncapInput& in) {
  wire::SegmentRoutingHeader header;
  header.segment = usid_carrier(in.path, in.plane, in.uplink);
  SrhBytes bytes{};
  wire::SegmentRoutingHeader::fields(header, wire::BitWriter(bytes));
  return bytes;
}

/// Destination address that the header bytes carry.
constexpr Ipv6Address outer_destination(const OuterHeaderBytes& bytes) {
  Ipv6Address address;
  for (std::size_t i = 0; i < 8; ++i) {
    address.high = address.high << 8 | std::to_integer<std::uint64_t>(bytes[24 + i]);
    address.low = address.low << 8 | std::to_integer<std::uint64_t>(bytes[32 + i]);
  }
  return address;
}

}  // namespace mrc
