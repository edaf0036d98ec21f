// Encryption of packets from NIC to NIC by an authenticated cipher of the AES-GCM class: which packets are encrypted,
// and what that adds to them. OCP MRC 1.0 says nothing of it; the framings are those of public standards. The packet
// stays the same for everything behind the engine: only its bytes on the wire grow.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc {

/// Bytes in front of the packet that is encrypted (from UDP to ICRC; the inner IPv6 header comes before), and behind
/// it.
enum class CryptoFraming : std::uint8_t {
  none,
  psp,         ///< PSP architecture specification: UDP 8, PSP header 16, tag 16
  psp_cookie,  ///< the same with the virtual cookie: UDP 8, PSP header 24, tag 16
  esp          ///< RFC 4303 and RFC 4106, transport mode: SPI and number 8, IV 8, padding and trailer 4, tag 16
};
/// Packets that share a key, a row of packet numbers and a replay window.
enum class AssociationScope : std::uint8_t { qp, peer };
/// What is done with a trimmed packet, whose tag the switch has cut off.
enum class TrimmedAction : std::uint8_t {
  nack,  ///< its headers are decrypted and believed without a tag
  drop   ///< it is lost
};

/// Defaults are in the clear. Ranges and sources: the parameter registry.
struct EncryptionConfig {
  CryptoFraming framing = CryptoFraming::none;
  bool control = true;  ///< SACKs, NACKs, ACKs, probes and endpoint operations are encrypted too
  AssociationScope association = AssociationScope::qp;
  std::uint32_t replay_window = 1024;  ///< packet numbers, a multiple of 64; 0: replays are not looked for
  TrimmedAction trimmed = TrimmedAction::nack;

  constexpr bool on() const { return framing != CryptoFraming::none; }
  constexpr bool covers(Opcode opcode) const { return on() && (control || is_data(opcode)); }
};

inline constexpr std::uint32_t kCryptoTagBytes = 16;
inline constexpr std::uint32_t kPspHeaderBytes = 16;
inline constexpr std::uint32_t kPspCookieBytes = 8;
inline constexpr std::uint32_t kEspHeaderBytes = 8;
inline constexpr std::uint32_t kEspIvBytes = 8;
/// ESP pads to 4 bytes with its two trailing bytes; what is encrypted is always a multiple of 4 bytes long.
inline constexpr std::uint32_t kEspPadAndTrailerBytes = 4;

/// Bytes in front of what is encrypted, behind the inner IPv6 header.
constexpr std::uint32_t crypto_header_bytes(CryptoFraming framing) {
  switch (framing) {
    case CryptoFraming::psp:
      return kUdpHeaderBytes + kPspHeaderBytes;
    case CryptoFraming::psp_cookie:
      return kUdpHeaderBytes + kPspHeaderBytes + kPspCookieBytes;
    case CryptoFraming::esp:
      return kEspHeaderBytes + kEspIvBytes;
    case CryptoFraming::none:
      break;
  }
  return 0;
}
/// Bytes behind it, tag included.
constexpr std::uint32_t crypto_trailer_bytes(CryptoFraming framing) {
  if (framing == CryptoFraming::none) return 0;
  return kCryptoTagBytes + (framing == CryptoFraming::esp ? kEspPadAndTrailerBytes : 0);
}
/// All that encryption adds to a packet with this opcode.
constexpr std::uint32_t crypto_bytes(const EncryptionConfig& config, Opcode opcode) {
  if (!config.covers(opcode)) return 0;
  return crypto_header_bytes(config.framing) + crypto_trailer_bytes(config.framing);
}
/// What the cipher works through: from the UDP header to the ICRC.
constexpr std::uint32_t plaintext_bytes(const Packet& p) {
  return kUdpHeaderBytes + transport_header_bytes(p) + p.payload_bytes + pad_bytes(p.payload_bytes) + kIcrcBytes;
}

/// As wire_bytes(), for a deployment that may encrypt: a 4,096 B write under SRv6 with PSP takes 4,302.
constexpr std::uint32_t wire_bytes(const Packet& p, Encapsulation e, const EncryptionConfig& encryption) {
  return wire_bytes(p, e) + crypto_bytes(encryption, p.opcode);
}

/// As wire_bytes(), for a packet that a switch may have trimmed to `trim_bytes` of its frame (without FCS, preamble and
/// gap).
constexpr std::uint32_t link_bytes(const Packet& p, Encapsulation e, const EncryptionConfig& encryption,
                                   std::uint32_t trim_bytes) {
  return p.damage == Damage::trimmed ? link_bytes(p, e, trim_bytes) : wire_bytes(p, e, encryption);
}

}  // namespace mrc
