// A packet as headers and back: encode_frame() writes the bytes of an Ethernet frame (without FCS), decode_frame()
// reads arbitrary bytes, never beyond their end, and reports the wrong header and field.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mrc/packet.h"
#include "mrc/wire/encrypted_frame.h"
#include "mrc/wire/headers.h"
#include "mrc/wire/icrc.h"

namespace mrc::wire {

/// Where and why bytes are not an MRC packet. The texts are literals.
struct DecodeError {
  std::string_view header;
  std::string_view field;  ///< empty: the header does not fit into the remaining bytes
  std::size_t offset = 0;  ///< of the header's first byte in the frame
  std::string_view reason;
};

struct DecodeOptions {
  std::uint16_t udp_port = 4791;
  /// DSCPs of the outermost header that mark a trimmed packet; only these may be shorter than their length fields.
  std::uint8_t dscp_trimmed = 12;
  std::uint8_t dscp_trimmed_lasthop = 16;
  EethOpPosition eeth_op_position = EethOpPosition::bits_3_2;
};

/// All headers; the valid ones follow from `outer`, `srh`, `ipv4` and the BTH opcode.
struct Frame {
  EthernetHeader ethernet;
  std::optional<Ipv6Header> outer;
  std::optional<SegmentRoutingHeader> srh;  ///< only with outer
  std::optional<Ipv4Header> ipv4;           ///< in place of ipv6
  Ipv6Header ipv6;
  UdpHeader udp;
  Bth bth;
  Meth meth;
  Tseth tseth;
  Reth reth;
  ImmDt imm_dt;
  Seth seth;
  CcState cc_state;
  Neth neth;
  Peth peth;
  Erth erth;
  Eeth eeth;
  Aeth aeth;
  std::span<const std::byte> payload;  ///< of the caller or of the decoded bytes; without pad
  std::array<std::byte, 3> pad{};     ///< the bth.pad bytes behind it; complete() makes them 0, a receiver ignores them
  std::optional<std::uint32_t> icrc;  ///< empty: computed when encoded; always set when decoded whole
  std::uint32_t icrc_expected = 0;    ///< of the decoded bytes
  /// A trimmed frame ends inside the packet: the number of complete extension headers; `payload` follows them.
  bool trimmed = false;
  std::uint8_t whole_extensions = 0;
  CryptoFields crypto;  ///< encoding encrypts the inner packet; with IPv6 only. Decoding knows plaintext alone
};

/// Calls visit(header) for each header after BTH, in wire order, while it returns true. Returns false for an
/// opcode unknown to MRC, or if visit stopped.
template <typename AnyFrame, typename Visitor>
constexpr bool visit_extensions(AnyFrame& frame, Visitor&& visit) {
  const auto opcode = static_cast<Opcode>(frame.bth.opcode);
  switch (opcode) {
    case Opcode::write_first:
    case Opcode::write_middle:
    case Opcode::write_last:
    case Opcode::write_last_imm:
    case Opcode::write_only:
    case Opcode::write_only_imm:
      return visit(frame.meth) && (frame.bth.ts == 0 || visit(frame.tseth)) && visit(frame.reth) &&
             (!has_immediate(opcode) || visit(frame.imm_dt));
    case Opcode::transport_ack:
      return visit(frame.aeth);
    case Opcode::endpoint_request:
      return visit(frame.erth);
    case Opcode::endpoint_response:
      return visit(frame.eeth);
    case Opcode::sack:
      return visit(frame.seth) && visit(frame.cc_state);
    case Opcode::nack:
      return visit(frame.neth);
    case Opcode::probe_request:
      return visit(frame.peth);
  }
  return false;
}

constexpr bool is_known_opcode(std::uint8_t opcode) {
  const auto op = static_cast<Opcode>(opcode);
  switch (op) {
    case Opcode::transport_ack:
    case Opcode::endpoint_request:
    case Opcode::endpoint_response:
    case Opcode::sack:
    case Opcode::nack:
    case Opcode::probe_request:
      return true;
    default:
      return is_data(op);
  }
}

/// Bytes from UDP's successor to the end of the packet: BTH, extensions, payload, pad, ICRC.
inline std::size_t transport_bytes(const Frame& frame) {
  std::size_t bytes = header_bytes<Bth>();
  visit_extensions(frame, [&](const auto& header) {
    bytes += header_bytes<std::remove_cvref_t<decltype(header)>>();
    return true;
  });
  return bytes + frame.payload.size() + frame.bth.pad + kIcrcBytes;
}

/// One's complement sum of an IPv4 header whose checksum field is 0, inverted.
inline std::uint16_t ipv4_checksum(const Ipv4Header& header) {
  Ipv4Header zeroed = header;
  zeroed.checksum = 0;
  std::array<std::byte, header_bytes<Ipv4Header>()> bytes{};
  Ipv4Header::fields(zeroed, BitWriter(bytes));
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += std::to_integer<std::uint32_t>(bytes[i]) << 8 | std::to_integer<std::uint32_t>(bytes[i + 1]);
  }
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~((sum & 0xFFFF) + (sum >> 16)));
}

/// Fills in the derived fields: pad, lengths, next headers, IPv4 checksum, and leaves the ICRC to encoding.
/// Precondition: the packet is at most 65,535 bytes long.
inline void complete(Frame& frame) {
  frame.bth.pad = static_cast<std::uint8_t>((4 - frame.payload.size() % 4) % 4);
  frame.pad = {};
  frame.icrc.reset();
  const std::size_t udp_length = header_bytes<UdpHeader>() + transport_bytes(frame);
  frame.udp.length = static_cast<std::uint16_t>(udp_length);
  std::size_t inner_bytes = udp_length;
  if (frame.ipv4) {
    inner_bytes += header_bytes<Ipv4Header>();
    frame.ipv4->total_length = static_cast<std::uint16_t>(inner_bytes);
    frame.ipv4->protocol = kNextHeaderUdp;
    frame.ipv4->checksum = ipv4_checksum(*frame.ipv4);
  } else {
    frame.ipv6.payload_length = static_cast<std::uint16_t>(udp_length);
    frame.ipv6.next_header = kNextHeaderUdp;
    inner_bytes += header_bytes<Ipv6Header>();
  }
  frame.ethernet.ethertype = frame.ipv4 && !frame.outer ? kEthertypeIpv4 : kEthertypeIpv6;
  if (!frame.outer) return;
  const std::uint8_t inner = frame.ipv4 ? kNextHeaderIpv4InIp : kNextHeaderIpv6InIp;
  const std::size_t srh_bytes = frame.srh ? header_bytes<SegmentRoutingHeader>() : 0;
  inner_bytes += crypto_header_bytes(frame.crypto.framing) + crypto_trailer_bytes(frame.crypto.framing);
  frame.outer->payload_length = static_cast<std::uint16_t>(inner_bytes + srh_bytes);
  frame.outer->next_header = frame.srh ? kNextHeaderRouting : inner;
  if (frame.srh) frame.srh->next_header = inner;
}

namespace detail {

template <typename Header>
void append_header(const Header& header, std::vector<std::byte>& out) {
  const std::size_t at = out.size();
  out.resize(at + header_bytes<Header>());
  Header::fields(header, BitWriter(std::span(out).subspan(at)));
}

inline void append_little_endian(std::uint32_t value, std::vector<std::byte>& out) {
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(value >> shift & 0xFF));
}

}  // namespace detail

/// Appends the packet from its (inner) IP header to its ICRC.
inline void encode_inner(const Frame& frame, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  if (frame.ipv4) {
    detail::append_header(*frame.ipv4, out);
  } else {
    detail::append_header(frame.ipv6, out);
  }
  detail::append_header(frame.udp, out);
  detail::append_header(frame.bth, out);
  std::uint8_t extensions = 0;
  visit_extensions(frame, [&](const auto& header) {
    if (frame.trimmed && extensions == frame.whole_extensions) return false;
    detail::append_header(header, out);
    ++extensions;
    return true;
  });
  out.insert(out.end(), frame.payload.begin(), frame.payload.end());
  if (frame.trimmed) return;
  out.insert(out.end(), frame.pad.begin(), frame.pad.begin() + frame.bth.pad);
  const std::uint32_t crc = frame.icrc ? *frame.icrc : icrc(std::span(out).subspan(start), frame.ipv4.has_value());
  detail::append_little_endian(crc, out);
  if (frame.crypto.framing != CryptoFraming::none) encrypt_inner(frame.crypto, start, out);
}

/// Replaces `out` by the Ethernet frame, without FCS.
inline void encode_frame(const Frame& frame, std::vector<std::byte>& out) {
  out.clear();
  detail::append_header(frame.ethernet, out);
  if (frame.outer) detail::append_header(*frame.outer, out);
  if (frame.srh) detail::append_header(*frame.srh, out);
  encode_inner(frame, out);
}

/// One pass over the bytes; decode_frame() is its interface.
class FrameDecoder {
 public:
  FrameDecoder(std::span<const std::byte> bytes, const DecodeOptions& options)
      : bytes_(bytes), end_(bytes.size()), options_(options) {}

  /// The frame, or where it is wrong.
  std::optional<DecodeError> decode(Frame& frame) {
    frame = Frame{};
    if (!read(frame.ethernet) || !network(frame) || !transport(frame)) return error_;
    return std::nullopt;
  }

 private:
  template <typename Header>
  bool read(Header& header) {
    constexpr std::size_t size = header_bytes<Header>();
    header_ = Header::kName;
    header_at_ = at_;
    if (end_ - at_ < size) return fail("", "is cut off");
    Header::fields(header, BitReader(bytes_.subspan(at_, size)));
    at_ += size;
    return true;
  }
  bool fail(std::string_view field, std::string_view reason) {
    error_ = {header_, field, header_at_, reason};
    return false;
  }
  bool require(bool condition, std::string_view field, std::string_view reason) {
    return condition || fail(field, reason);
  }

  bool network(Frame& frame) {
    const std::uint16_t type = frame.ethernet.ethertype;
    if (type == kEthertypeIpv4) return ipv4(frame, true);
    if (type != kEthertypeIpv6) return fail("ethertype", "is neither IPv6 nor IPv4");
    Ipv6Header first;
    if (!ipv6(first, true)) return false;
    if (first.next_header == kNextHeaderUdp) {
      frame.ipv6 = first;
      return true;
    }
    frame.outer = first;
    return inside_tunnel(frame);
  }
  bool inside_tunnel(Frame& frame) {
    std::uint8_t next = frame.outer->next_header;
    if (next == kNextHeaderRouting) {
      if (!segment_routing(frame.srh.emplace())) return false;
      next = frame.srh->next_header;
    }
    if (next == kNextHeaderIpv4InIp) return ipv4(frame, false);
    if (next != kNextHeaderIpv6InIp) return fail("next_header", "is not UDP, SRH, IPv6 or IPv4");
    return ipv6(frame.ipv6, false) && require(frame.ipv6.next_header == kNextHeaderUdp, "next_header", "is not UDP");
  }
  bool segment_routing(SegmentRoutingHeader& srh) {
    return read(srh) &&
           require(srh.routing_type == kRoutingTypeSegment, "routing_type", "is not 4 (segment routing)") &&
           require(srh.length_8_bytes == 2, "hdr_ext_len", "does not stand for one segment") &&
           require(srh.segments_left <= 1, "segments_left", "is more than the one segment") &&
           require(srh.last_entry == 0, "last_entry", "is not the one segment");
  }
  bool ipv6(Ipv6Header& header, bool outermost) {
    if (!read(header) || !require(header.version == 6, "version", "is not 6")) return false;
    return lengths(header.payload_length, header.dscp, outermost, "payload_length");
  }
  bool ipv4(Frame& frame, bool outermost) {
    Ipv4Header& header = frame.ipv4.emplace();
    if (!read(header) || !require(header.version == 4, "version", "is not 4") ||
        !require(header.ihl == 5, "ihl", "is not 5: options are not used") ||
        !require(header.fragment_offset == 0 && (header.flags & 1) == 0, "fragment_offset",
                 "says that it is a fragment") ||
        !require(header.protocol == kNextHeaderUdp, "protocol", "is not UDP") ||
        !require(header.checksum == ipv4_checksum(header), "checksum", "is wrong") ||
        !require(header.total_length >= header_bytes<Ipv4Header>(), "total_length", "is shorter than the header")) {
      return false;
    }
    const std::size_t payload = header.total_length - header_bytes<Ipv4Header>();
    return lengths(payload, header.dscp, outermost, "total_length");
  }
  /// Compares the length in an IP header with the bytes after it; the outermost header may mark the packet as trimmed.
  bool lengths(std::size_t payload, std::uint8_t dscp, bool outermost, std::string_view field) {
    const std::size_t available = end_ - at_;
    if (outermost) {
      trimmed_ = payload > available && (dscp == options_.dscp_trimmed || dscp == options_.dscp_trimmed_lasthop);
      missing_ = trimmed_ ? payload - available : 0;
    }
    if (payload > available + missing_) return fail(field, "is more than the frame holds");
    return require(payload == available + missing_, field, "is less than the frame holds");
  }

  bool transport(Frame& frame) {
    frame.trimmed = trimmed_;
    if (!read(frame.udp)) return false;
    const std::size_t udp_length = end_ - header_at_ + missing_;
    if (!require(frame.udp.dst_port == options_.udp_port, "dst_port", "is not the port of MRC") ||
        !require(frame.udp.length == udp_length, "length", "differs from what IP says") || !read(frame.bth) ||
        !require(is_known_opcode(frame.bth.opcode), "opcode", "is not one of MRC's twelve") ||
        !require(frame.bth.tver == 0, "tver", "is not 0")) {
      return false;
    }
    bool cut = false;
    const bool whole = visit_extensions(frame, [&](auto& header) {
      cut = trimmed_ && end_ - at_ < header_bytes<std::remove_cvref_t<decltype(header)>>();
      if (cut || !read(header)) return false;
      ++frame.whole_extensions;
      return check(header);
    });
    if (trimmed_ && (whole || cut)) {
      frame.payload = bytes_.subspan(at_);
      return true;
    }
    return whole && tail(frame);
  }
  bool tail(Frame& frame) {
    const std::size_t rest = end_ - at_;
    header_ = "ICRC";
    header_at_ = at_;
    if (rest < kIcrcBytes) return fail("", "is cut off");
    const std::size_t body = rest - kIcrcBytes;
    header_ = Bth::kName;
    if (!is_data(static_cast<Opcode>(frame.bth.opcode))) {
      if (body != 0 || frame.bth.pad != 0) return fail("opcode", "has no payload, but bytes follow");
    } else if (frame.bth.pad > body || body % 4 != 0) {
      return fail("pad", "does not fit the payload");
    }
    frame.payload = bytes_.subspan(at_, body - frame.bth.pad);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + frame.payload.size()), frame.bth.pad,
                frame.pad.begin());
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes_[at_ + body + i]); };
    frame.icrc = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    const std::size_t inner_at = end_ - (frame.udp.length + (frame.ipv4 ? 20U : 40U));
    frame.icrc_expected = wire::icrc(bytes_.subspan(inner_at, end_ - kIcrcBytes - inner_at), frame.ipv4.has_value());
    return true;
  }

  bool check(const Meth&) { return true; }
  bool check(const Tseth& header) { return require(header.ftype == Tseth::kFtype, "ftype", "is not 1"); }
  bool check(const Reth& header) { return require(header.dma_length != 0, "dma_len", "is 0"); }
  bool check(const ImmDt&) { return true; }
  bool check(const Seth& header) { return require(header.m != 3, "m", "is none of NONE, SKIP_ONCE, ALWAYS_SKIP"); }
  bool check(const CcState&) { return true; }
  bool check(const Neth& header) {
    switch (static_cast<NackReason>(header.nack_reason)) {
      case NackReason::trimmed:
      case NackReason::trimmed_lasthop:
      case NackReason::no_bitmap:
      case NackReason::no_pkt_buffer:
      case NackReason::no_resource:
      case NackReason::psn_oor_window:
      case NackReason::unexp_event:
        return true;
      case NackReason::none:
        break;
    }
    return fail("nack_reason", "is none of the seven known");
  }
  bool check(const Peth& header) { return require(header.ftype == Tseth::kFtype, "ftype", "is not 1"); }
  bool check(const Erth& header) {
    return require(header.op <= 1, "op", "is neither PORT_STATUS_UPDATE nor EV_PROBE") &&
           require(header.ftype == Tseth::kFtype, "ftype", "is not 1");
  }
  bool check(const Eeth& header) {
    return require(eeth_op(header, options_.eeth_op_position) <= 1, "op", "is neither PORT_STATUS_UPDATE nor EV_PROBE");
  }
  bool check(const Aeth&) { return true; }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t end_;
  DecodeOptions options_;
  std::string_view header_;
  std::size_t header_at_ = 0;
  bool trimmed_ = false;
  std::size_t missing_ = 0;  ///< bytes removed by trimming
  DecodeError error_;
};

/// Decodes an Ethernet frame without FCS. `frame.payload` points into `bytes`. Any bytes are allowed; nothing is
/// thrown.
inline std::optional<DecodeError> decode_frame(std::span<const std::byte> bytes, const DecodeOptions& options,
                                               Frame& frame) {
  return FrameDecoder(bytes, options).decode(frame);
}

}  // namespace mrc::wire
