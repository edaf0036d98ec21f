// Invariant CRC of RoCEv2 (InfiniBand annex A17): CRC-32 of the packet from the IP header on, with the fields that may
// change on the way set to ones, preceded by eight bytes of ones in place of a local route header; sent low byte first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "mrc/wire/crc32.h"

namespace mrc::wire {

/// ICRC of a packet that starts with its (inner) IPv6 or IPv4 header and ends before the ICRC. Precondition: at least
/// the IP header, UDP and BTH are there.
inline std::uint32_t icrc(std::span<const std::byte> packet, bool ipv4) {
  constexpr std::size_t udp_bytes = 8;
  constexpr std::size_t bth_bytes = 12;
  const std::size_t ip_bytes = ipv4 ? 20 : 40;
  const std::size_t head_bytes = ip_bytes + udp_bytes + bth_bytes;
  std::array<std::byte, 40 + udp_bytes + bth_bytes> head{};
  std::memcpy(head.data(), packet.data(), head_bytes);
  const auto mask = [&](std::size_t at, std::size_t count) { std::memset(head.data() + at, 0xFF, count); };
  if (ipv4) {
    mask(1, 1);   // DSCP, ECN
    mask(8, 1);   // TTL
    mask(10, 2);  // header checksum
  } else {
    head[0] |= std::byte{0x0F};  // traffic class and flow label
    mask(1, 3);
    mask(7, 1);  // hop limit
  }
  mask(ip_bytes + 6, 2);              // UDP checksum
  mask(ip_bytes + udp_bytes + 4, 1);  // BTH, the byte that congestion marks may use
  Crc32 crc;
  std::array<std::byte, 8> ones;
  ones.fill(std::byte{0xFF});
  crc.add(ones);
  crc.add(std::span(head).first(head_bytes));
  crc.add(packet.subspan(head_bytes));
  return crc.value();
}

}  // namespace mrc::wire
