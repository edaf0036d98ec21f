// Sizes of RoCEv2 packets: BTH without METH and TSETH, RETH only in the first packet of a message, no outer header
// (IBTA, annex A17). The model represents them as Packet with the opcodes of MRC writes.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc {

/// BTH opcode of a congestion notification packet (IBTA, annex A17); MRC has none.
inline constexpr Opcode kCnp{0x81};

/// Transport headers after UDP, without payload and ICRC, in bytes.
constexpr std::uint32_t rc_transport_header_bytes(const Packet& p) {
  if (p.opcode == kCnp) return kBthBytes + 16;
  if (!is_data(p.opcode)) return transport_header_bytes(p);
  const bool begins =
      p.opcode == Opcode::write_first || p.opcode == Opcode::write_only || p.opcode == Opcode::write_only_imm;
  return kBthBytes + (begins ? 16 : 0) + (has_immediate(p.opcode) ? 4 : 0);
}

/// Bytes of link time, preamble and gap included; a 4,096 B middle packet takes 4,198.
constexpr std::uint32_t rc_wire_bytes(const Packet& p) {
  return kEthernetOverheadBytes + kIpv6HeaderBytes + kUdpHeaderBytes + rc_transport_header_bytes(p) + p.payload_bytes +
         pad_bytes(p.payload_bytes) + kIcrcBytes;
}

}  // namespace mrc
