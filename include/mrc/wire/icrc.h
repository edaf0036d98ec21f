// Invariant CRC of RoCEv2 (InfiniBand annex A17): CRC-32 of the packet from the IP header on, with the fields that may
// change on the way set to ones, preceded by eight bytes of ones in place of a local route header; sent low byte first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mrc::wire {

namespace detail {

/// Tables of the reflected polynomial 0x04C11DB7 for eight bytes per step.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB8'8320U : 0U);
    tables[0][i] = crc;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xFF];
  }
  return tables;
}
inline constexpr auto kCrcTables = make_crc_tables();

}  // namespace detail

/// A running CRC-32; value() may be called at any time.
class Crc32 {
 public:
  constexpr void add(std::span<const std::byte> bytes) {
    const auto& t = detail::kCrcTables;
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      const std::uint32_t low = crc_ ^ (byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24);
      crc_ = t[7][low & 0xFF] ^ t[6][low >> 8 & 0xFF] ^ t[5][low >> 16 & 0xFF] ^ t[4][low >> 24] ^ t[3][byte(i + 4)] ^
             t[2][byte(i + 5)] ^ t[1][byte(i + 6)] ^ t[0][byte(i + 7)];
    }
    for (; i < bytes.size(); ++i) crc_ = crc_ >> 8 ^ t[0][(crc_ ^ byte(i)) & 0xFF];
  }
  constexpr std::uint32_t value() const { return ~crc_; }

 private:
  std::uint32_t crc_ = 0xFFFF'FFFF;
};

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
