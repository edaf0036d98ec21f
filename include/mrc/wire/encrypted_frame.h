// An encrypted packet as bytes, for captures and for RTL behind the engine: the plaintext packet (IPv6 to ICRC) becomes
// what the framing makes of it. Keys follow from the SPI alone, so that Wireshark can be told them: they protect
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mrc/encryption.h"
#include "mrc/wire/aes_gcm.h"
#include "mrc/wire/bits.h"

namespace mrc::wire {

inline constexpr std::uint16_t kPspUdpPort = 1000;
inline constexpr std::uint8_t kNextHeaderEsp = 50;

struct CryptoFields {
  CryptoFraming framing = CryptoFraming::none;
  std::uint32_t spi = 0;
  std::uint64_t packet_number = 0;
};

/// SPI that the receiver knows the packet's association by: its QP, or for what belongs to no QP, or where associations
/// belong to peers, the sender.
constexpr std::uint32_t spi_of(const Packet& packet, AssociationScope scope) {
  const bool endpoint = packet.opcode == Opcode::endpoint_request || packet.opcode == Opcode::endpoint_response;
  constexpr std::uint32_t of_peer = 0x4000'0000;
  return scope == AssociationScope::qp && !endpoint ? packet.destination_qp : of_peer | packet.source_node;
}

/// Key of the association with this SPI: the SPI four times. The salt of ESP's nonces is the SPI.
constexpr AesBlock crypto_key(std::uint32_t spi) {
  AesBlock key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(spi >> (24 - 8 * (i % 4)));
  return key;
}

namespace detail {

inline void append_big_endian(std::uint64_t value, unsigned bytes, std::vector<std::byte>& out) {
  for (unsigned shift = 8 * bytes; shift > 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> (shift - 8)));
}

/// Of PSP; and of ESP with that salt.
inline GcmNonce gcm_nonce(std::uint32_t spi, std::uint64_t packet_number) {
  GcmNonce nonce{};
  for (std::size_t i = 0; i < 4; ++i) nonce[i] = static_cast<std::uint8_t>(spi >> (24 - 8 * i));
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<std::uint8_t>(packet_number >> (56 - 8 * i));
  return nonce;
}

/// Headers in front of the encrypted bytes; the last `authenticated` of them are under the tag.
struct CryptoHeaders {
  std::vector<std::byte> bytes;
  std::size_t authenticated = 0;
};

inline CryptoHeaders crypto_headers(const CryptoFields& fields, std::uint16_t source_port, std::size_t plaintext) {
  CryptoHeaders headers;
  std::vector<std::byte>& out = headers.bytes;
  if (fields.framing == CryptoFraming::esp) {
    append_big_endian(fields.spi, 4, out);
    append_big_endian(fields.packet_number, 4, out);
    append_big_endian(fields.packet_number, 8, out);
    headers.authenticated = kEspHeaderBytes;
    return headers;
  }
  const bool cookie = fields.framing == CryptoFraming::psp_cookie;
  const std::size_t header = kPspHeaderBytes + (cookie ? kPspCookieBytes : 0);
  append_big_endian(source_port, 2, out);
  append_big_endian(kPspUdpPort, 2, out);
  append_big_endian(kUdpHeaderBytes + header + plaintext + kCryptoTagBytes, 2, out);
  append_big_endian(0, 2, out);
  append_big_endian(17, 1, out);              // next header: UDP
  append_big_endian(header / 8 - 1, 1, out);  // units of 8 bytes behind the first
  append_big_endian(0, 1, out);               // crypt offset: all is encrypted
  append_big_endian(cookie ? 3 : 1, 1, out);  // version 0: AES-GCM-128
  append_big_endian(fields.spi, 4, out);
  append_big_endian(fields.packet_number, 8, out);
  if (cookie) append_big_endian(0, 8, out);
  headers.authenticated = header;
  return headers;
}

}  // namespace detail

/// The packet that begins at `start` with its IPv6 header and fills `out` to the end is encrypted.
inline void encrypt_inner(const CryptoFields& fields, std::size_t start, std::vector<std::byte>& out) {
  constexpr std::size_t length_at = 4;
  constexpr std::size_t next_header_at = 6;
  const bool esp = fields.framing == CryptoFraming::esp;
  const std::size_t body = start + kIpv6HeaderBytes;
  const auto source_port =
      static_cast<std::uint16_t>(std::to_integer<unsigned>(out[body]) << 8 | std::to_integer<unsigned>(out[body + 1]));
  if (esp) detail::append_big_endian(0x0102'0211, kEspPadAndTrailerBytes, out);  // padding 1, 2, its length, UDP
  const std::size_t encrypted = out.size() - body;
  const auto headers = detail::crypto_headers(fields, source_port, encrypted);
  const std::span<const std::byte> all(headers.bytes);
  const std::span<const std::byte> authenticated =
      esp ? all.first(headers.authenticated) : all.last(headers.authenticated);
  const AesGcm cipher(crypto_key(fields.spi));
  const GcmNonce nonce = detail::gcm_nonce(fields.spi, fields.packet_number);
  const AesBlock tag = cipher.encrypt(nonce, authenticated, std::span(out).subspan(body));
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(body), headers.bytes.begin(), headers.bytes.end());
  for (const std::uint8_t byte : tag) out.push_back(std::byte{byte});
  const std::size_t length = out.size() - body;
  out[start + length_at] = static_cast<std::byte>(length >> 8);
  out[start + length_at + 1] = static_cast<std::byte>(length & 0xFF);
  if (esp) out[start + next_header_at] = std::byte{kNextHeaderEsp};
}

}  // namespace mrc::wire
