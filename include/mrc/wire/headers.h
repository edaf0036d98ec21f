// Every header of an MRC packet: fields by their names in the specification, in wire order, all big-endian. One list of
// fields per header is used for encoding, decoding and printing. Reserved fields are kept, so that decoding and
// encoding again gives the same bytes. Layouts: OCP MRC 1.0 tables as named; Ethernet, IP, UDP and SRH from their RFCs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mrc/packet.h"
#include "mrc/wire/bits.h"

namespace mrc::wire {

inline constexpr std::uint16_t kEthertypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kEthertypeIpv4 = 0x0800;
inline constexpr std::uint8_t kNextHeaderUdp = 17;
inline constexpr std::uint8_t kNextHeaderIpv4InIp = 4;
inline constexpr std::uint8_t kNextHeaderIpv6InIp = 41;
inline constexpr std::uint8_t kNextHeaderRouting = 43;
inline constexpr std::uint8_t kRoutingTypeSegment = 4;

struct EthernetHeader {
  static constexpr std::string_view kName = "Ethernet";
  std::uint64_t dst = 0;  ///< 48 bits
  std::uint64_t src = 0;
  std::uint16_t ethertype = kEthertypeIpv6;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("dst", 48, self.dst);
    visit("src", 48, self.src);
    visit("ethertype", 16, self.ethertype);
  }
  friend bool operator==(const EthernetHeader&, const EthernetHeader&) = default;
};

struct Ipv6Header {
  static constexpr std::string_view kName = "IPv6";
  std::uint8_t version = 6;
  std::uint8_t dscp = 0;
  std::uint8_t ecn = 0;
  std::uint32_t flow_label = 0;  ///< 20 bits
  std::uint16_t payload_length = 0;
  std::uint8_t next_header = kNextHeaderUdp;
  std::uint8_t hop_limit = 64;
  Ipv6Address src;
  Ipv6Address dst;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("version", 4, self.version);
    visit("dscp", 6, self.dscp);
    visit("ecn", 2, self.ecn);
    visit("flow_label", 20, self.flow_label);
    visit("payload_length", 16, self.payload_length);
    visit("next_header", 8, self.next_header);
    visit("hop_limit", 8, self.hop_limit);
    visit("src", 128, self.src);
    visit("dst", 128, self.dst);
  }
  friend bool operator==(const Ipv6Header&, const Ipv6Header&) = default;
};

/// Segment routing header (RFC 8754) with one segment, the only form that MRC uses.
struct SegmentRoutingHeader {
  static constexpr std::string_view kName = "SRH";
  std::uint8_t next_header = kNextHeaderIpv6InIp;
  std::uint8_t length_8_bytes = 2;  ///< without the first 8 bytes
  std::uint8_t routing_type = kRoutingTypeSegment;
  std::uint8_t segments_left = 0;
  std::uint8_t last_entry = 0;
  std::uint8_t flags = 0;
  std::uint16_t tag = 0;
  Ipv6Address segment;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("next_header", 8, self.next_header);
    visit("hdr_ext_len", 8, self.length_8_bytes);
    visit("routing_type", 8, self.routing_type);
    visit("segments_left", 8, self.segments_left);
    visit("last_entry", 8, self.last_entry);
    visit("flags", 8, self.flags);
    visit("tag", 16, self.tag);
    visit("segment", 128, self.segment);
  }
  friend bool operator==(const SegmentRoutingHeader&, const SegmentRoutingHeader&) = default;
};

/// IPv4 without options.
struct Ipv4Header {
  static constexpr std::string_view kName = "IPv4";
  std::uint8_t version = 4;
  std::uint8_t ihl = 5;
  std::uint8_t dscp = 0;
  std::uint8_t ecn = 0;
  std::uint16_t total_length = 0;
  std::uint16_t identification = 0;
  std::uint8_t flags = 2;  ///< don't fragment
  std::uint16_t fragment_offset = 0;
  std::uint8_t ttl = 64;
  std::uint8_t protocol = kNextHeaderUdp;
  std::uint16_t checksum = 0;
  std::uint32_t src = 0;
  std::uint32_t dst = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("version", 4, self.version);
    visit("ihl", 4, self.ihl);
    visit("dscp", 6, self.dscp);
    visit("ecn", 2, self.ecn);
    visit("total_length", 16, self.total_length);
    visit("identification", 16, self.identification);
    visit("flags", 3, self.flags);
    visit("fragment_offset", 13, self.fragment_offset);
    visit("ttl", 8, self.ttl);
    visit("protocol", 8, self.protocol);
    visit("checksum", 16, self.checksum);
    visit("src", 32, self.src);
    visit("dst", 32, self.dst);
  }
  friend bool operator==(const Ipv4Header&, const Ipv4Header&) = default;
};

struct UdpHeader {
  static constexpr std::string_view kName = "UDP";
  std::uint16_t src_port = 0;
  std::uint16_t dst_port = 4791;
  std::uint16_t length = 0;
  std::uint16_t checksum = 0;  ///< 0: none, as RoCEv2 sends it; ICRC protects the packet

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("src_port", 16, self.src_port);
    visit("dst_port", 16, self.dst_port);
    visit("length", 16, self.length);
    visit("checksum", 16, self.checksum);
  }
  friend bool operator==(const UdpHeader&, const UdpHeader&) = default;
};

/// Base transport header (Tables 6-3, 6-4, 7-10, 7-11).
struct Bth {
  static constexpr std::string_view kName = "BTH";
  std::uint8_t opcode = 0;
  std::uint8_t se = 0;   ///< solicited event, the top bit of byte 1 as in IBTA's BTH
  std::uint8_t m = 0;    ///< migration state, below it
  std::uint8_t pad = 0;  ///< bytes that fill the payload to a multiple of 4
  std::uint8_t tver = 0;
  std::uint16_t pkey = 0xFFFF;
  std::uint8_t var_res = 0;
  std::uint32_t dqp = 0;
  std::uint8_t a = 0;
  std::uint8_t r = 0;
  std::uint8_t rtx = 0;
  std::uint8_t ts = 0;
  std::uint8_t inv_res = 0;
  std::uint32_t psn = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("opcode", 8, self.opcode);
    visit("se", 1, self.se);
    visit("m", 1, self.m);
    visit("pad", 2, self.pad);
    visit("tver", 4, self.tver);
    visit("p_key", 16, self.pkey);
    visit("var_res", 8, self.var_res);
    visit("dqp", 24, self.dqp);
    visit("a", 1, self.a);
    visit("r", 1, self.r);
    visit("rtx", 1, self.rtx);
    visit("ts", 1, self.ts);
    visit("inv_res", 4, self.inv_res);
    visit("psn", 24, self.psn);
  }
  friend bool operator==(const Bth&, const Bth&) = default;
};

/// Tables 6-8, 6-9.
struct Meth {
  static constexpr std::string_view kName = "METH";
  std::uint16_t rqmsn = 0;
  std::uint16_t msn = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("rqmsn", 16, self.rqmsn);
    visit("msn", 16, self.msn);
  }
  friend bool operator==(const Meth&, const Meth&) = default;
};

/// Tables 6-6, 6-7.
struct Tseth {
  static constexpr std::string_view kName = "TSETH";
  static constexpr std::uint8_t kFtype = 1;
  std::uint16_t tx_timestamp = 0;
  std::uint8_t tsr = 0;  ///< unit: 0 is 128 ns, 1 is 1 us
  std::uint16_t reserved = 0;
  std::uint8_t ftype = kFtype;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("tx_timestamp", 16, self.tx_timestamp);
    visit("tsr", 1, self.tsr);
    visit("reserved", 11, self.reserved);
    visit("ftype", 4, self.ftype);
  }
  friend bool operator==(const Tseth&, const Tseth&) = default;
};

struct Reth {
  static constexpr std::string_view kName = "RETH";
  std::uint64_t va = 0;
  std::uint32_t rkey = 0;
  std::uint32_t dma_length = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("va", 64, self.va);
    visit("r_key", 32, self.rkey);
    visit("dma_len", 32, self.dma_length);
  }
  friend bool operator==(const Reth&, const Reth&) = default;
};

struct ImmDt {
  static constexpr std::string_view kName = "ImmDt";
  std::uint32_t immediate = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("immediate", 32, self.immediate);
  }
  friend bool operator==(const ImmDt&, const ImmDt&) = default;
};

/// SETH (Tables 7-14, 7-15).
struct Seth {
  static constexpr std::string_view kName = "SETH";
  std::uint8_t type = 0;
  std::uint8_t nh = 0;
  std::uint8_t m = 0;
  std::uint8_t reserved0 = 0;
  std::uint8_t pr = 0;
  std::uint8_t reserved1 = 0;
  std::uint16_t ack_psn_offset = 0;  ///< two's complement; probe_id with pr = 1
  std::uint32_t entropy = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  std::uint8_t reserved2 = 0;
  std::uint32_t cack_psn = 0;
  std::uint8_t cc_type = 0;
  std::uint8_t cc_fl = 0;
  std::uint8_t mpr = 0;
  std::uint16_t sack_offset = 0;  ///< two's complement
  std::uint64_t sack_bitmap = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("type", 4, self.type);
    visit("nh", 5, self.nh);
    visit("m", 2, self.m);
    visit("res0", 3, self.reserved0);
    visit("pr", 1, self.pr);
    visit("res1", 1, self.reserved1);
    visit("ack_psn_offset", 16, self.ack_psn_offset);
    visit("entropy", 32, self.entropy);
    visit("spdcid", 16, self.spdcid);
    visit("dpdcid", 16, self.dpdcid);
    visit("res2", 8, self.reserved2);
    visit("cack_psn", 24, self.cack_psn);
    visit("cc_type", 4, self.cc_type);
    visit("cc_fl", 4, self.cc_fl);
    visit("mpr", 8, self.mpr);
    visit("sack_offset", 16, self.sack_offset);
    visit("sack_bitmap", 64, self.sack_bitmap);
  }
  friend bool operator==(const Seth&, const Seth&) = default;
};

/// CC_STATE behind SETH (Tables 7-12, 7-13).
struct CcState {
  static constexpr std::string_view kName = "CC_STATE";
  std::uint16_t tx_timestamp = 0;
  std::uint8_t reserved = 0;
  std::uint16_t ooo_count = 0;
  std::uint8_t restore_cwnd = 0;
  std::uint8_t rcv_cwnd_pen = 0;
  std::uint32_t rcvd_bytes = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("tx_timestamp", 16, self.tx_timestamp);
    visit("res", 1, self.reserved);
    visit("ooo_count", 15, self.ooo_count);
    visit("r_c", 1, self.restore_cwnd);
    visit("rcv_cwnd_pen", 7, self.rcv_cwnd_pen);
    visit("rcvd_bytes", 24, self.rcvd_bytes);
  }
  friend bool operator==(const CcState&, const CcState&) = default;
};

/// Tables 7-16, 7-17.
struct Neth {
  static constexpr std::string_view kName = "NETH";
  std::uint8_t type = 0;
  std::uint8_t nh = 0;
  std::uint8_t reserved0 = 0;
  std::uint8_t nack_reason = 0;
  std::uint8_t vendor_info = 0;
  std::uint32_t entropy = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  std::uint8_t reserved1 = 0;
  std::uint32_t nack_psn = 0;
  std::uint8_t cc_type = 2;
  std::uint8_t cc_fl = 0;
  std::uint8_t reserved2 = 0;
  std::uint16_t tx_timestamp = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("type", 4, self.type);
    visit("nh", 5, self.nh);
    visit("res0", 7, self.reserved0);
    visit("nack_reason", 8, self.nack_reason);
    visit("vendor_info", 8, self.vendor_info);
    visit("entropy", 32, self.entropy);
    visit("spdcid", 16, self.spdcid);
    visit("dpdcid", 16, self.dpdcid);
    visit("res1", 8, self.reserved1);
    visit("nack_psn", 24, self.nack_psn);
    visit("cc_type", 4, self.cc_type);
    visit("cc_fl", 4, self.cc_fl);
    visit("res2", 8, self.reserved2);
    visit("tx_timestamp", 16, self.tx_timestamp);
  }
  friend bool operator==(const Neth&, const Neth&) = default;
};

/// Tables 7-18, 7-19.
struct Peth {
  static constexpr std::string_view kName = "PETH";
  std::uint8_t type = 0;
  std::uint8_t nh = 0;
  std::uint8_t reserved0 = 0;
  std::uint8_t reserved1 = 0;
  std::uint8_t vendor_info = 0;
  std::uint16_t probe_id = 0;
  std::uint16_t reserved2 = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  std::uint16_t tx_timestamp = 0;
  std::uint8_t tsr = 0;
  std::uint16_t reserved3 = 0;
  std::uint8_t ftype = Tseth::kFtype;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("type", 4, self.type);
    visit("nh", 5, self.nh);
    visit("res0", 7, self.reserved0);
    visit("res1", 8, self.reserved1);
    visit("vendor_info", 8, self.vendor_info);
    visit("probe_id", 16, self.probe_id);
    visit("res2", 16, self.reserved2);
    visit("spdcid", 16, self.spdcid);
    visit("dpdcid", 16, self.dpdcid);
    visit("tx_timestamp", 16, self.tx_timestamp);
    visit("tsr", 1, self.tsr);
    visit("res3", 11, self.reserved3);
    visit("ftype", 4, self.ftype);
  }
  friend bool operator==(const Peth&, const Peth&) = default;
};

/// Tables 7-20, 7-21: op in the two lowest bits of the first half-word.
struct Erth {
  static constexpr std::string_view kName = "ERTH";
  std::uint8_t type = 0;
  std::uint8_t nh = 0;
  std::uint8_t reserved0 = 0;
  std::uint8_t op = 0;
  std::uint8_t reserved1 = 0;
  std::uint8_t vendor_info = 0;
  std::uint32_t port_status_mask = 0;
  std::uint32_t reserved2 = 0;
  std::uint16_t tx_timestamp = 0;
  std::uint8_t tsr = 0;
  std::uint16_t reserved3 = 0;
  std::uint8_t ftype = Tseth::kFtype;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("type", 4, self.type);
    visit("nh", 5, self.nh);
    visit("res0", 5, self.reserved0);
    visit("op", 2, self.op);
    visit("res1", 8, self.reserved1);
    visit("vendor_info", 8, self.vendor_info);
    visit("port_status_mask", 32, self.port_status_mask);
    visit("res2", 32, self.reserved2);
    visit("tx_timestamp", 16, self.tx_timestamp);
    visit("tsr", 1, self.tsr);
    visit("res3", 11, self.reserved3);
    visit("ftype", 4, self.ftype);
  }
  friend bool operator==(const Erth&, const Erth&) = default;
};

/// Tables 7-22, 7-23. Readers of the specification disagree on the place of op: the choice is EethOpPosition.
struct Eeth {
  static constexpr std::string_view kName = "EETH";
  std::uint16_t first_half = 0;  ///< type, nh, op and reserved bits; see eeth_op()
  std::uint16_t reserved0 = 0;
  std::array<std::uint64_t, 3> reserved1{};
  std::uint16_t tx_timestamp = 0;
  std::uint16_t reserved2 = 0;
  std::uint32_t reserved3 = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("first_half", 16, self.first_half);
    visit("res0", 16, self.reserved0);
    visit("res1", 64, self.reserved1[0]);
    visit("res2", 64, self.reserved1[1]);
    visit("res3", 64, self.reserved1[2]);
    visit("tx_timestamp", 16, self.tx_timestamp);
    visit("res4", 16, self.reserved2);
    visit("res5", 32, self.reserved3);
  }
  friend bool operator==(const Eeth&, const Eeth&) = default;
};

/// Transport ACK.
struct Aeth {
  static constexpr std::string_view kName = "AETH";
  std::uint8_t syndrome = 0x1F;
  std::uint32_t msn = 0;

  template <typename Self, typename Visitor>
  static constexpr void fields(Self& self, Visitor&& visit) {
    visit("syndrome", 8, self.syndrome);
    visit("msn", 24, self.msn);
  }
  friend bool operator==(const Aeth&, const Aeth&) = default;
};

/// Bytes of a header on the wire.
template <typename Header>
constexpr std::size_t header_bytes() {
  BitCounter counter;
  Header header{};
  Header::fields(header, counter);
  return counter.bytes();
}

static_assert(header_bytes<EthernetHeader>() == 14 && header_bytes<Ipv6Header>() == 40);
static_assert(header_bytes<SegmentRoutingHeader>() == 24 && header_bytes<Ipv4Header>() == 20);
static_assert(header_bytes<UdpHeader>() == 8 && header_bytes<Bth>() == 12 && header_bytes<Meth>() == 4);
static_assert(header_bytes<Tseth>() == 4 && header_bytes<Reth>() == 16 && header_bytes<ImmDt>() == 4);
static_assert(header_bytes<Seth>() == 28 && header_bytes<CcState>() == 8 && header_bytes<Neth>() == 20);
static_assert(header_bytes<Peth>() == 16 && header_bytes<Erth>() == 16 && header_bytes<Eeth>() == 36);
static_assert(header_bytes<Aeth>() == 4);

/// Where EETH.op lies in the first half-word: bits [3:2] for most readers of the specification, bits [5:4] for one.
enum class EethOpPosition : std::uint8_t { bits_5_4, bits_3_2 };

constexpr unsigned eeth_op_shift(EethOpPosition position) {
  return position == EethOpPosition::bits_5_4 ? 4 : 2;
}
constexpr std::uint8_t eeth_op(const Eeth& header, EethOpPosition position) {
  return static_cast<std::uint8_t>(header.first_half >> eeth_op_shift(position) & 3);
}

}  // namespace mrc::wire
