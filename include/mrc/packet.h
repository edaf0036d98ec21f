// A packet in the model: header fields as values, payload as a reference. `wire/` encodes it to bytes only when they
// are needed (RTL, pcap, memory check).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

/// 8-bit BTH opcodes (OCP MRC 1.0).
enum class Opcode : std::uint8_t {
  write_first = 0xC6,
  write_middle = 0xC7,
  write_last = 0xC8,
  write_last_imm = 0xC9,
  write_only = 0xCA,
  write_only_imm = 0xCB,
  transport_ack = 0xD1,
  endpoint_request = 0xD8,
  endpoint_response = 0xD9,
  sack = 0xDC,
  nack = 0xDD,
  probe_request = 0xDE,
};

constexpr bool is_data(Opcode op) {
  return op >= Opcode::write_first && op <= Opcode::write_only_imm;
}
constexpr bool has_immediate(Opcode op) {
  return op == Opcode::write_last_imm || op == Opcode::write_only_imm;
}
/// True for the packet that ends a message: LAST, LAST_IMM, ONLY, ONLY_IMM.
constexpr bool ends_message(Opcode op) {
  return op >= Opcode::write_last && op <= Opcode::write_only_imm;
}

/// NACK reason codes (OCP MRC 1.0).
enum class NackReason : std::uint8_t {
  none = 0x00,
  trimmed = 0x01,
  trimmed_lasthop = 0x02,
  no_bitmap = 0x06,
  no_pkt_buffer = 0x07,
  no_resource = 0x0A,
  psn_oor_window = 0x0B,
  unexp_event = 0x19,
};

/// SACK.m: the responder's mark for the path of the packet that triggered the SACK (OCP MRC 1.0).
enum class PathMark : std::uint8_t { none = 0, skip_once = 1, always_skip = 2 };

/// Two ECN bits of the IPv6 traffic class.
enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };

/// The six code points of OCP MRC 1.0 by role; the DSCP value of each is chosen by the deployment
/// (ProtocolConfig::dscp).
enum class TrafficRole : std::uint8_t { control, trimmable, no_trim, trimmable_retx, trimmed, trimmed_lasthop };
inline constexpr std::size_t kTrafficRoles = 6;

/// Traffic classes of data, 0 the least urgent.
inline constexpr std::uint32_t kMostTrafficClasses = 4;
/// Packets in these roles are data of a class; the others are of the one control class.
constexpr bool has_traffic_class(TrafficRole role) {
  return role == TrafficRole::trimmable || role == TrafficRole::no_trim || role == TrafficRole::trimmable_retx;
}

/// 128-bit IPv6 address, `high` holds bytes 0-7 in network order as an integer (byte 0 most significant).
struct Ipv6Address {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr bool operator==(const Ipv6Address&, const Ipv6Address&) = default;
};

/// RELIABILITY_SACK: SETH + CC_STATE (OCP MRC 1.0, Tables 7-12 … 7-15).
struct SackFields {
  std::uint64_t sack_bitmap = 0;  ///< bit i: PSN cack_psn + sack_offset + i received; 0: no information
  Psn cack_psn = 0;               ///< highest PSN with no PSN missing at or below it
  Ev entropy = 0;                 ///< EV of the packet that triggered this SACK
  std::uint32_t rcvd_bytes = 0;   ///< 24 bits, unit 256 B, rounded up, wraps at 4 GiB
  std::int16_t sack_offset = 0;
  std::int16_t ack_psn_offset = 0;  ///< acknowledged PSN - cack_psn; the probe id when `probe` is set
  std::uint16_t tx_timestamp = 0;   ///< reflected from the trigger's TSETH
  std::uint16_t ooo_count = 0;      ///< packets received above a gap, saturates at 32,767
  std::uint8_t mpr = 0;             ///< unit 128 PSNs, 0 while dynamic MPR is off
  std::uint8_t rcv_cwnd_pen = 0;    ///< 0 … 127
  PathMark mark = PathMark::none;
  bool probe = false;         ///< pr: answers a reliability probe
  bool restore_cwnd = false;  ///< r_c
};

/// RELIABILITY_NACK: NETH (Tables 7-16, 7-17).
struct NackFields {
  Psn nack_psn = 0;
  Ev entropy = 0;
  std::uint16_t tx_timestamp = 0;
  NackReason reason = NackReason::none;
  std::uint8_t vendor_info = 0;
};

/// RELIABILITY_PROBE_REQ: PETH (Tables 7-18, 7-19).
struct ProbeFields {
  std::uint16_t probe_id = 0;
};

enum class EndpointOp : std::uint8_t { port_status_update = 0, ev_probe = 1 };

/// ENDPOINT_REQUEST and _RESPONSE: ERTH, EETH (Tables 7-20 … 7-23).
struct EndpointFields {
  std::uint32_t port_status_mask = 0;  ///< bit p set: port p is reachable
  std::uint16_t request_id = 0;        ///< carried in PSN[15:0]
  EndpointOp op = EndpointOp::port_status_update;
};

/// Transport ACK: AETH; the credit field is constant 0x1F (unsupported).
struct TransportAckFields {
  std::uint32_t msn = 0;  ///< 24 bits: messages completed so far, modulo 2^24
  std::uint8_t syndrome = 0x1F;
};

/// Of a packet of a reduction in switches (reduction/reduction_slots.h): values of ranks on their way up, or the result
/// on its way down. One number represents the payload, so that receivers can tell a wrong sum.
struct ReductionFields {
  std::uint64_t sequence = 0;  ///< in its tree
  std::uint64_t sum = 0;       ///< of what the ranks put in, modulo 2^64
  std::uint32_t tree = 0;
  std::uint32_t ranks = 0;  ///< whose values are in the sum
};

/// Damage of a packet in flight; not on the wire.
enum class Damage : std::uint8_t { none, corrupted, trimmed };

/// A time as TSETH carries it: 16 bits, in units of 1 us or 128 ns.
constexpr std::uint16_t timestamp_units(TimePs now, bool in_us) {
  return static_cast<std::uint16_t>(now / (in_us ? kPsPerUs : 128 * kPsPerNs));
}

struct Packet {
  constexpr Packet() : sack{} {}

  Ipv6Address outer_dst;               ///< SRv6 uSID carrier; switches shift it on the way
  std::uint64_t va = 0;                ///< RETH.VA of this packet's first byte
  std::uint64_t packet_number = 0;     ///< of its security association, from 1; 0: it is not encrypted
  const std::byte* payload = nullptr;  ///< source bytes, owned by the sender's host memory; null: by reference only
  std::uint32_t payload_bytes = 0;     ///< 0 for control; a trimmed packet keeps its original value
  std::uint32_t dma_length = 0;        ///< RETH.DMALen: length of the whole message
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;
  NodeId source_node = 0;
  NodeId destination_node = 0;
  QpNumber destination_qp = 0;
  Psn psn = 0;
  Ev ev = 0;
  std::uint32_t corrupt_bit = 0;   ///< with Damage::corrupted: which bit of the encoded packet is inverted
  std::uint32_t last_start = 0;    ///< its latest start in a box, for who records them; not on the wire
  std::uint16_t msn = 0;           ///< METH.MSN
  std::uint16_t rqmsn = 0;         ///< METH.RQMSN, valid for WRITE_IMM
  std::uint16_t tx_timestamp = 0;  ///< TSETH, unit by `timestamp_in_us`
  std::uint16_t pkey = 0xFFFF;
  Opcode opcode = Opcode::write_only;
  std::uint8_t plane = 0;  ///< plane = NIC port, 0-based
  std::uint8_t hop_limit = 64;
  Ecn ecn = Ecn::ect0;
  TrafficRole role = TrafficRole::trimmable;
  Damage damage = Damage::none;
  std::uint8_t loss_cause = 0;  ///< of a retransmission: CutCause that made it necessary; not on the wire
  bool ack_request = false;
  bool retransmission = false;
  bool has_timestamp = true;
  bool timestamp_in_us : 1 = false;      ///< TSETH.tsr: unit 1 us instead of 128 ns
  bool trimmed_at_last_hop : 1 = false;  ///< meaningful with Damage::trimmed
  std::uint8_t traffic_class : 2 = 0;    ///< of its QP; on the wire in the DSCP of data packets
  bool is_reduction : 1 = false;         ///< of a reduction in switches: `reduction` is valid
  bool without_srh : 1 = false;          ///< its QP needs none, where the deployment has SRHs
  union {
    SackFields sack;
    NackFields nack;
    ProbeFields probe;
    EndpointFields endpoint;
    TransportAckFields transport_ack;
    ReductionFields reduction;
  };
};

/// Bytes that the stack adds on the wire, Ethernet framing included (14 + 4 FCS + 20 preamble and gap).
inline constexpr std::uint32_t kEthernetHeaderBytes = 14;
inline constexpr std::uint32_t kEthernetOverheadBytes = kEthernetHeaderBytes + 4 + 20;
inline constexpr std::uint32_t kIpv6HeaderBytes = 40;
inline constexpr std::uint32_t kUdpHeaderBytes = 8;
inline constexpr std::uint32_t kBthBytes = 12;
inline constexpr std::uint32_t kIcrcBytes = 4;
inline constexpr std::uint32_t kSrhBytes = 24;

/// Transport headers after UDP, without payload and ICRC, in bytes: BTH and the headers of the opcode.
constexpr std::uint32_t transport_header_bytes(const Packet& p) {
  constexpr std::uint32_t bth = kBthBytes;
  switch (p.opcode) {
    case Opcode::sack:
      return bth + 36;
    case Opcode::nack:
      return bth + 20;
    case Opcode::transport_ack:
      return bth + 4;
    case Opcode::probe_request:
      return bth + 16;
    case Opcode::endpoint_request:
      return bth + 16;
    case Opcode::endpoint_response:
      return bth + 36;
    default:
      break;
  }
  const std::uint32_t data = bth + 4 + 16 + (p.has_timestamp ? 4 : 0) + (has_immediate(p.opcode) ? 4 : 0);
  return data;
}

/// Outer encapsulation of a deployment (OCP MRC 1.0).
enum class Encapsulation : std::uint8_t { none, srv6, srv6_srh };

constexpr std::uint32_t encapsulation_bytes(Encapsulation e) {
  return e == Encapsulation::none ? 0 : kIpv6HeaderBytes + (e == Encapsulation::srv6_srh ? kSrhBytes : 0);
}

/// Bytes that fill a payload to a multiple of 4 (BTH.pad).
constexpr std::uint32_t pad_bytes(std::uint32_t payload_bytes) {
  return (0U - payload_bytes) & 3;
}

/// The outer headers of this packet have an SRH.
constexpr bool has_srh(const Packet& p, Encapsulation e) {
  return e == Encapsulation::srv6_srh && !p.without_srh;
}

/// Bytes of link time the packet takes, preamble and gap included; a 4,096 B write under SRv6 takes 4,262.
constexpr std::uint32_t wire_bytes(const Packet& p, Encapsulation e) {
  const Encapsulation of_packet = e == Encapsulation::srv6_srh && p.without_srh ? Encapsulation::srv6 : e;
  return kEthernetOverheadBytes + encapsulation_bytes(of_packet) + kIpv6HeaderBytes + kUdpHeaderBytes +
         transport_header_bytes(p) + p.payload_bytes + pad_bytes(p.payload_bytes) + kIcrcBytes;
}

/// As wire_bytes, for a packet that a switch may have trimmed to `trim_bytes` of its frame (without FCS, preamble and
/// gap).
constexpr std::uint32_t link_bytes(const Packet& p, Encapsulation e, std::uint32_t trim_bytes) {
  const std::uint32_t cut = trim_bytes + kEthernetOverheadBytes - kEthernetHeaderBytes;
  return p.damage == Damage::trimmed ? cut : wire_bytes(p, e);
}

/// nominal_pktsize of a write with TSETH before it is built.
constexpr std::uint32_t nominal_data_bytes(std::uint32_t payload_bytes, bool immediate) {
  return kUdpHeaderBytes + 12 + 4 + 4 + 16 + (immediate ? 4 : 0) + payload_bytes + pad_bytes(payload_bytes) +
         kIcrcBytes + kIpv6HeaderBytes;
}

/// nominal_pktsize that a packet adds to inflight and rcvd_bytes: UDP length + 40 (OCP MRC 1.0).
constexpr std::uint32_t nominal_bytes(const Packet& p) {
  return kUdpHeaderBytes + transport_header_bytes(p) + p.payload_bytes + pad_bytes(p.payload_bytes) + kIcrcBytes +
         kIpv6HeaderBytes;
}

}  // namespace mrc
