// Sizes of UET packets (UEC 1.0: PDS and SES headers over UDP, port 4793). The model represents them as Packet with
// the opcodes of MRC: MRC's SACK and NACK were derived from PDS ACK_CC and NACK, with the same fields.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc {

/// PDS control packets that MRC does not have: a grant of the receiver, and a request for one by a sender that has
/// nothing to send it with.
inline constexpr Opcode kUetCredit{0x91};
inline constexpr Opcode kUetCreditRequest{0x92};

inline constexpr std::uint32_t kUetRequestBytes = 16;   ///< PDS RUD_CC_REQ: 12 and the congestion state of 4
inline constexpr std::uint32_t kUetSesBytes = 44;       ///< SES standard header of a request
inline constexpr std::uint32_t kUetAckBytes = 32;       ///< PDS ACK_CC: 12, SACK of 12, congestion state of 8
inline constexpr std::uint32_t kUetResponseBytes = 12;  ///< SES response in an ACK
inline constexpr std::uint32_t kUetNackBytes = 16;
inline constexpr std::uint32_t kUetControlBytes = 16;

/// Transport headers after UDP, without payload, in bytes.
constexpr std::uint32_t uet_transport_header_bytes(const Packet& p) {
  if (is_data(p.opcode)) return kUetRequestBytes + kUetSesBytes;
  if (p.opcode == Opcode::sack) return kUetAckBytes + kUetResponseBytes;
  return p.opcode == Opcode::nack ? kUetNackBytes : kUetControlBytes;
}

/// Bytes of link time, preamble and gap included, over IPv6 and UDP without the optional CRC; 4,096 B take 4,242.
constexpr std::uint32_t uet_wire_bytes(const Packet& p) {
  return kEthernetOverheadBytes + kIpv6HeaderBytes + kUdpHeaderBytes + uet_transport_header_bytes(p) + p.payload_bytes +
         pad_bytes(p.payload_bytes);
}

/// Credit counts bytes of a PDC since it began, in 24 bits of 256 B: the target that data and requests carry, and what
/// a grant has given so far. It travels where only control packets of other kinds have fields.
inline constexpr std::uint32_t kCreditUnitBytes = 256;
constexpr void set_credit(Packet& packet, std::uint64_t bytes) {
  packet.transport_ack.msn = static_cast<std::uint32_t>(bytes / kCreditUnitBytes) & 0xFF'FFFF;
}
/// The count nearest to `known` that the packet may mean.
constexpr std::uint64_t credit_of(const Packet& packet, std::uint64_t known) {
  const auto ahead = static_cast<std::int32_t>((packet.transport_ack.msn - known / kCreditUnitBytes) << 8) >> 8;
  const std::int64_t units = static_cast<std::int64_t>(known / kCreditUnitBytes) + ahead;
  return units < 0 ? 0 : static_cast<std::uint64_t>(units) * kCreditUnitBytes;
}

}  // namespace mrc
