// Conversion between the packet of the model (packet.h) and the headers on the wire (frame.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/wire/address_plan.h"
#include "mrc/wire/frame.h"

namespace mrc::wire {

/// UDP source port and flow label that carry an EV (OCP MRC 9.1; the order of the halves is open, see EvHalfOrder).
struct EvFields {
  std::uint16_t source_port;
  std::uint16_t flow_label_low;
};
constexpr EvFields split_ev(Ev ev, EvHalfOrder order) {
  const auto low = static_cast<std::uint16_t>(ev);
  const auto high = static_cast<std::uint16_t>(ev >> 16);
  return order == EvHalfOrder::low_to_source_port ? EvFields{low, high} : EvFields{high, low};
}
constexpr Ev join_ev(EvFields fields, EvHalfOrder order) {
  const std::uint32_t port = fields.source_port;
  const std::uint32_t label = fields.flow_label_low;
  return order == EvHalfOrder::low_to_source_port ? label << 16 | port : port << 16 | label;
}

inline DecodeOptions decode_options(const ProtocolConfig& config) {
  return {.udp_port = config.udp_port,
          .dscp_trimmed = config.dscp[static_cast<std::size_t>(TrafficRole::trimmed)],
          .dscp_trimmed_lasthop = config.dscp[static_cast<std::size_t>(TrafficRole::trimmed_lasthop)],
          .eeth_op_position = EethOpPosition::bits_3_2};
}

/// Role in the outermost header: that of the packet, or that of a trimmed packet.
constexpr TrafficRole outer_role(const Packet& packet) {
  if (packet.damage != Damage::trimmed) return packet.role;
  return packet.trimmed_at_last_hop ? TrafficRole::trimmed_lasthop : TrafficRole::trimmed;
}
/// Role that the sender gave the packet, which stays in the inner header: only trimmable packets are trimmed.
constexpr TrafficRole sent_role(const Packet& packet) {
  if (packet.damage != Damage::trimmed) return packet.role;
  return packet.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable;
}

/// Payload bytes of a packet as sent, 0 for control. For a trimmed packet they follow from its message length and
/// `mtu_bytes`.
constexpr std::uint32_t sent_payload_bytes(const Packet& packet, std::uint32_t mtu_bytes) {
  if (packet.damage != Damage::trimmed) return packet.payload_bytes;
  switch (packet.opcode) {
    case Opcode::write_first:
    case Opcode::write_middle:
      return mtu_bytes;
    case Opcode::write_last:
    case Opcode::write_last_imm:
      return (packet.dma_length - 1) % mtu_bytes + 1;
    default:
      return packet.dma_length;
  }
}

constexpr bool is_endpoint(Opcode op) {
  return op == Opcode::endpoint_request || op == Opcode::endpoint_response;
}

namespace detail {

inline std::uint64_t mac_bits(const MacAddress& mac) {
  std::uint64_t bits = 0;
  for (const std::byte byte : mac) bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
  return bits;
}

inline void put_extensions(const Packet& packet, Frame& frame) {
  switch (packet.opcode) {
    case Opcode::sack: {
      const SackFields& sack = packet.sack;
      frame.seth.m = static_cast<std::uint8_t>(sack.mark);
      frame.seth.pr = sack.probe ? 1 : 0;
      frame.seth.ack_psn_offset = static_cast<std::uint16_t>(sack.ack_psn_offset);
      frame.seth.entropy = sack.entropy;
      frame.seth.cack_psn = sack.cack_psn;
      frame.seth.mpr = sack.mpr;
      frame.seth.sack_offset = static_cast<std::uint16_t>(sack.sack_offset);
      frame.seth.sack_bitmap = sack.sack_bitmap;
      frame.cc_state.tx_timestamp = sack.tx_timestamp;
      frame.cc_state.ooo_count = sack.ooo_count;
      frame.cc_state.restore_cwnd = sack.restore_cwnd ? 1 : 0;
      frame.cc_state.rcv_cwnd_pen = sack.rcv_cwnd_pen;
      frame.cc_state.rcvd_bytes = sack.rcvd_bytes;
      return;
    }
    case Opcode::nack:
      frame.neth.nack_reason = static_cast<std::uint8_t>(packet.nack.reason);
      frame.neth.vendor_info = packet.nack.vendor_info;
      frame.neth.entropy = packet.nack.entropy;
      frame.neth.nack_psn = packet.nack.nack_psn;
      frame.neth.tx_timestamp = packet.nack.tx_timestamp;
      return;
    case Opcode::probe_request:
      frame.peth.probe_id = packet.probe.probe_id;
      frame.peth.tx_timestamp = packet.tx_timestamp;
      frame.peth.tsr = packet.timestamp_in_us ? 1 : 0;
      return;
    case Opcode::endpoint_request:
      frame.erth.op = static_cast<std::uint8_t>(packet.endpoint.op);
      frame.erth.port_status_mask = packet.endpoint.port_status_mask;
      frame.erth.tx_timestamp = packet.tx_timestamp;
      frame.erth.tsr = packet.timestamp_in_us ? 1 : 0;
      return;
    case Opcode::endpoint_response:
      frame.eeth.first_half = static_cast<std::uint16_t>(static_cast<unsigned>(packet.endpoint.op)
                                                         << eeth_op_shift(EethOpPosition::bits_3_2));
      frame.eeth.tx_timestamp = packet.tx_timestamp;
      return;
    case Opcode::transport_ack:
      frame.aeth.syndrome = packet.transport_ack.syndrome;
      frame.aeth.msn = packet.transport_ack.msn;
      return;
    default:
      break;
  }
  frame.meth = {packet.rqmsn, packet.msn};
  frame.bth.ts = packet.has_timestamp ? 1 : 0;
  frame.tseth.tx_timestamp = packet.tx_timestamp;
  frame.tseth.tsr = packet.timestamp_in_us ? 1 : 0;
  frame.reth = {packet.va, packet.rkey, packet.dma_length};
  frame.imm_dt.immediate = packet.immediate;
}

inline void get_extensions(const Frame& frame, const DecodeOptions& options, Packet& packet) {
  switch (packet.opcode) {
    case Opcode::sack:
      packet.sack = SackFields{.sack_bitmap = frame.seth.sack_bitmap,
                               .cack_psn = frame.seth.cack_psn,
                               .entropy = frame.seth.entropy,
                               .rcvd_bytes = frame.cc_state.rcvd_bytes,
                               .sack_offset = static_cast<std::int16_t>(frame.seth.sack_offset),
                               .ack_psn_offset = static_cast<std::int16_t>(frame.seth.ack_psn_offset),
                               .tx_timestamp = frame.cc_state.tx_timestamp,
                               .ooo_count = frame.cc_state.ooo_count,
                               .mpr = frame.seth.mpr,
                               .rcv_cwnd_pen = frame.cc_state.rcv_cwnd_pen,
                               .mark = static_cast<PathMark>(frame.seth.m),
                               .probe = frame.seth.pr != 0,
                               .restore_cwnd = frame.cc_state.restore_cwnd != 0};
      return;
    case Opcode::nack:
      packet.nack = NackFields{.nack_psn = frame.neth.nack_psn,
                               .entropy = frame.neth.entropy,
                               .tx_timestamp = frame.neth.tx_timestamp,
                               .reason = static_cast<NackReason>(frame.neth.nack_reason),
                               .vendor_info = frame.neth.vendor_info};
      return;
    case Opcode::probe_request:
      packet.probe = ProbeFields{frame.peth.probe_id};
      packet.tx_timestamp = frame.peth.tx_timestamp;
      packet.timestamp_in_us = frame.peth.tsr != 0;
      return;
    case Opcode::endpoint_request:
      packet.endpoint = {.port_status_mask = frame.erth.port_status_mask,
                         .request_id = static_cast<std::uint16_t>(frame.bth.psn),
                         .op = static_cast<EndpointOp>(frame.erth.op)};
      packet.tx_timestamp = frame.erth.tx_timestamp;
      packet.timestamp_in_us = frame.erth.tsr != 0;
      return;
    case Opcode::endpoint_response:
      packet.endpoint = {.port_status_mask = 0,
                         .request_id = static_cast<std::uint16_t>(frame.bth.psn),
                         .op = static_cast<EndpointOp>(eeth_op(frame.eeth, options.eeth_op_position))};
      packet.tx_timestamp = frame.eeth.tx_timestamp;
      return;
    case Opcode::transport_ack:
      packet.transport_ack = {frame.aeth.msn, frame.aeth.syndrome};
      return;
    default:
      break;
  }
  packet.rqmsn = frame.meth.rqmsn;
  packet.msn = frame.meth.msn;
  packet.has_timestamp = frame.bth.ts != 0;
  packet.tx_timestamp = frame.tseth.tx_timestamp;
  packet.timestamp_in_us = frame.tseth.tsr != 0;
  packet.va = frame.reth.va;
  packet.rkey = frame.reth.rkey;
  packet.dma_length = frame.reth.dma_length;
  packet.immediate = frame.imm_dt.immediate;
}

}  // namespace detail

/// Headers of `packet` as it leaves `source_node` on its plane, or as it is on the way. `payload` holds the bytes that
/// the lengths count, sent_payload_bytes() of them. The frame is whole also for a trimmed packet.
inline Frame to_frame(const Packet& packet, const ProtocolConfig& config, std::span<const std::byte> payload) {
  Frame frame;
  frame.ethernet.src = detail::mac_bits(port_mac(packet.source_node, packet.plane));
  frame.ethernet.dst = detail::mac_bits(port_mac(packet.destination_node, packet.plane));
  const EvFields ev = split_ev(packet.ev, config.ev_half_order);
  frame.ipv6.src = port_address(packet.source_node, packet.plane);
  frame.ipv6.dst = port_address(packet.destination_node, packet.plane);
  frame.ipv6.flow_label = ev.flow_label_low;
  frame.ipv6.dscp = config.dscp_of(sent_role(packet), packet.traffic_class);
  frame.ipv6.ecn = static_cast<std::uint8_t>(packet.ecn == Ecn::ce ? Ecn::ect0 : packet.ecn);
  if (config.encapsulation != Encapsulation::none) {
    frame.outer.emplace().src = frame.ipv6.src;
    frame.outer->dst = packet.outer_dst;
  }
  Ipv6Header& outermost = frame.outer ? *frame.outer : frame.ipv6;
  outermost.dscp = config.dscp_of(outer_role(packet), packet.traffic_class);
  outermost.ecn = static_cast<std::uint8_t>(packet.ecn);
  outermost.hop_limit = packet.hop_limit;
  if (has_srh(packet, config.encapsulation)) frame.srh.emplace().segment = packet.outer_dst;
  frame.udp.src_port = ev.source_port;
  frame.udp.dst_port = config.udp_port;
  frame.bth.opcode = static_cast<std::uint8_t>(packet.opcode);
  frame.bth.pkey = packet.pkey;
  frame.bth.dqp = packet.destination_qp;
  frame.bth.a = packet.ack_request ? 1 : 0;
  frame.bth.rtx = packet.retransmission ? 1 : 0;
  frame.bth.psn = is_endpoint(packet.opcode) ? packet.endpoint.request_id : packet.psn;
  frame.payload = payload;
  detail::put_extensions(packet, frame);
  if (config.encryption.covers(packet.opcode)) {
    frame.crypto = {config.encryption.framing, spi_of(packet, config.encryption.association), packet.packet_number};
  }
  complete(frame);
  return frame;
}

/// Replaces `out` by the Ethernet frame (without FCS) as it is on the link: cut to `trim_bytes` if it was trimmed, with
/// a bit inverted that ICRC covers if it was corrupted. A packet by reference only gets a payload of zeros. Returns the
/// bytes of the frame before it was cut.
inline std::size_t encode_packet(const Packet& packet, const ProtocolConfig& config, std::uint32_t trim_bytes,
                                 std::vector<std::byte>& out) {
  const std::uint32_t payload_bytes = sent_payload_bytes(packet, config.mtu_bytes);
  std::vector<std::byte> zeros(packet.payload == nullptr ? payload_bytes : 0);
  const auto* payload = packet.payload == nullptr ? zeros.data() : packet.payload;
  const Frame frame = to_frame(packet, config, {payload, payload_bytes});
  encode_frame(frame, out);
  const std::size_t sent_bytes = out.size();
  if (packet.damage == Damage::trimmed && trim_bytes < sent_bytes) out.resize(trim_bytes);
  if (packet.damage == Damage::corrupted) {
    const std::size_t covered = transport_bytes(frame) - header_bytes<Bth>();
    const std::size_t bit = packet.corrupt_bit % (8 * covered);
    out[sent_bytes - covered + bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
  }
  return sent_bytes;
}

/// The packet in a decoded frame; damage and role follow from the DSCPs. The payload points into the
/// frame's bytes. For a trimmed frame, fields of headers that were cut off keep their defaults. Precondition: an inner
/// IPv6 header, whose addresses are those of address_plan.h.
inline Packet from_frame(const Frame& frame, const ProtocolConfig& config) {
  Packet packet;
  const Ipv6Header& outermost = frame.outer ? *frame.outer : frame.ipv6;
  packet.opcode = static_cast<Opcode>(frame.bth.opcode);
  packet.has_timestamp = false;
  packet.outer_dst = frame.outer ? frame.outer->dst : Ipv6Address{};
  packet.without_srh = config.encapsulation == Encapsulation::srv6_srh && !frame.srh;
  packet.hop_limit = outermost.hop_limit;
  packet.ecn = static_cast<Ecn>(outermost.ecn);
  packet.ev = join_ev({frame.udp.src_port, static_cast<std::uint16_t>(frame.ipv6.flow_label)}, config.ev_half_order);
  packet.plane = static_cast<std::uint8_t>(frame.ipv6.dst.high);
  packet.source_node = static_cast<NodeId>(frame.ipv6.src.low - 1);
  packet.destination_node = static_cast<NodeId>(frame.ipv6.dst.low - 1);
  // The lowest class goes first where a deployment has given a DSCP twice.
  for (std::uint32_t c = kMostTrafficClasses; c-- > 0;) {
    for (std::size_t role = 0; role < kTrafficRoles; ++role) {
      if (config.dscp_of(static_cast<TrafficRole>(role), c) != frame.ipv6.dscp) continue;
      packet.role = static_cast<TrafficRole>(role);
      packet.traffic_class = has_traffic_class(packet.role) ? c & (kMostTrafficClasses - 1) : 0;
    }
  }
  packet.destination_qp = frame.bth.dqp;
  packet.pkey = frame.bth.pkey;
  packet.psn = frame.bth.psn;
  packet.ack_request = frame.bth.a != 0;
  packet.retransmission = frame.bth.rtx != 0;
  detail::get_extensions(frame, decode_options(config), packet);
  if (frame.trimmed) {
    packet.damage = Damage::trimmed;
    packet.trimmed_at_last_hop = outermost.dscp == config.dscp[static_cast<std::size_t>(TrafficRole::trimmed_lasthop)];
    packet.role = outer_role(packet);
    return packet;
  }
  packet.payload = frame.payload.data();
  packet.payload_bytes = static_cast<std::uint32_t>(frame.payload.size());
  return packet;
}

}  // namespace mrc::wire
