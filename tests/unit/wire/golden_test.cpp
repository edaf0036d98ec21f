// Bytes of each opcode and of each stack of IP headers, written by hand from the tables of the headers.
#include <gtest/gtest.h>

#include "frame_generator.h"
#include "hex.h"
#include "mrc/wire/frame.h"

namespace mrc::wire {
namespace {

constexpr std::size_t kBthAt = 14 + 40 + 8;

Frame plain_frame(Opcode opcode) {
  Frame frame;
  frame.bth.opcode = static_cast<std::uint8_t>(opcode);
  frame.bth.dqp = 0x123456;
  frame.bth.psn = 0xABCDEF;
  return frame;
}

Frame write_frame(Opcode opcode, std::span<const std::byte> payload) {
  Frame frame = plain_frame(opcode);
  frame.meth = {0x0102, 0x0304};
  frame.reth = {0x1122'3344'5566'7788, 0xDEAD'BEEF, 0x0001'0000};
  frame.payload = payload;
  return frame;
}

/// From BTH to the last byte before ICRC; and back again.
void expect_transport(Frame frame, std::string_view hex) {
  complete(frame);
  std::vector<std::byte> bytes;
  encode_frame(frame, bytes);
  const auto transport = std::span(bytes).subspan(kBthAt, bytes.size() - kBthAt - 4);
  EXPECT_EQ(to_hex(transport), to_hex(from_hex(hex)));
  Frame decoded;
  const auto error = decode_frame(bytes, {}, decoded);
  ASSERT_FALSE(error) << error->header << " " << error->field << " " << error->reason;
  EXPECT_EQ(mrc_fields(decoded), mrc_fields(frame));
  EXPECT_EQ(to_hex(decoded.payload), to_hex(frame.payload));
}

TEST(Golden, WriteFirst) {
  const auto payload = from_hex("A0A1A2A3A4A5A6A7");
  Frame frame = write_frame(Opcode::write_first, payload);
  frame.bth.a = 1;
  frame.bth.ts = 1;
  frame.tseth.tx_timestamp = 0x1122;
  frame.tseth.tsr = 1;
  expect_transport(frame,
                   "C6 00 FFFF 00 123456 90 ABCDEF"
                   "0102 0304"
                   "1122 8001"
                   "1122334455667788 DEADBEEF 00010000"
                   "A0A1A2A3A4A5A6A7");
}

TEST(Golden, WriteMiddleRetransmittedWithoutTimestamp) {
  const auto payload = from_hex("A0A1A2A3");
  Frame frame = write_frame(Opcode::write_middle, payload);
  frame.bth.rtx = 1;
  expect_transport(frame,
                   "C7 00 FFFF 00 123456 20 ABCDEF"
                   "0102 0304"
                   "1122334455667788 DEADBEEF 00010000"
                   "A0A1A2A3");
}

TEST(Golden, WriteLastWithThreePadBytes) {
  const auto payload = from_hex("A0A1A2A3A4");
  Frame frame = write_frame(Opcode::write_last, payload);
  expect_transport(frame,
                   "C8 30 FFFF 00 123456 00 ABCDEF"
                   "0102 0304"
                   "1122334455667788 DEADBEEF 00010000"
                   "A0A1A2A3A4 000000");
}

TEST(Golden, WriteLastImmSolicitedWithTwoPadBytes) {
  const auto payload = from_hex("A0A1");
  Frame frame = write_frame(Opcode::write_last_imm, payload);
  frame.bth.se = 1;
  frame.imm_dt.immediate = 0xCAFE'F00D;
  expect_transport(frame,
                   "C9 A0 FFFF 00 123456 00 ABCDEF"
                   "0102 0304"
                   "1122334455667788 DEADBEEF 00010000"
                   "CAFEF00D"
                   "A0A1 0000");
}

TEST(Golden, WriteOnlyWithOnePadByte) {
  const auto payload = from_hex("A0A1A2");
  Frame frame = write_frame(Opcode::write_only, payload);
  frame.bth.m = 1;
  frame.bth.pkey = 0x8001;
  frame.bth.var_res = 0x5A;
  frame.bth.r = 1;
  frame.bth.inv_res = 0xC;
  expect_transport(frame,
                   "CA 50 8001 5A 123456 4C ABCDEF"
                   "0102 0304"
                   "1122334455667788 DEADBEEF 00010000"
                   "A0A1A2 00");
}

TEST(Golden, WriteOnlyImm) {
  const auto payload = from_hex("A0A1A2A3");
  Frame frame = write_frame(Opcode::write_only_imm, payload);
  frame.bth.ts = 1;
  frame.tseth.tx_timestamp = 0xFFFE;
  frame.tseth.reserved = 0x7FF;
  frame.imm_dt.immediate = 1;
  expect_transport(frame,
                   "CB 00 FFFF 00 123456 10 ABCDEF"
                   "0102 0304"
                   "FFFE 7FF1"
                   "1122334455667788 DEADBEEF 00010000"
                   "00000001"
                   "A0A1A2A3");
}

TEST(Golden, TransportAck) {
  Frame frame = plain_frame(Opcode::transport_ack);
  frame.aeth.msn = 0x010203;
  expect_transport(frame, "D1 00 FFFF 00 123456 00 ABCDEF 1F 010203");
}

TEST(Golden, EndpointRequest) {
  Frame frame = plain_frame(Opcode::endpoint_request);
  frame.bth.dqp = 2;
  frame.bth.psn = 0xBEEF;
  frame.erth.op = 1;
  frame.erth.vendor_info = 0x5A;
  frame.erth.port_status_mask = 0x8000'000F;
  frame.erth.tx_timestamp = 0x3344;
  frame.erth.tsr = 1;
  expect_transport(frame,
                   "D8 00 FFFF 00 000002 00 00BEEF"
                   "0001 00 5A 8000000F 00000000 3344 8001");
}

TEST(Golden, EndpointResponse) {
  Frame frame = plain_frame(Opcode::endpoint_response);
  frame.bth.dqp = 2;
  frame.bth.psn = 0xBEEF;
  frame.eeth.first_half = 0x0010;
  frame.eeth.tx_timestamp = 0x3344;
  EXPECT_EQ(eeth_op(frame.eeth, EethOpPosition::bits_5_4), 1);
  EXPECT_EQ(eeth_op(frame.eeth, EethOpPosition::bits_3_2), 0);
  expect_transport(frame,
                   "D9 00 FFFF 00 000002 00 00BEEF"
                   "0010 0000 0000000000000000 0000000000000000 0000000000000000"
                   "3344 0000 00000000");
}

/// PSNs 0 … 11 sent, 5 and 8 lost: cumulative 4, bitmap from PSN 5 on.
TEST(Golden, Sack) {
  Frame frame = plain_frame(Opcode::sack);
  frame.bth.psn = 4;
  frame.seth.type = 0xA;
  frame.seth.nh = 0x11;
  frame.seth.m = 1;
  frame.seth.ack_psn_offset = static_cast<std::uint16_t>(-2);
  frame.seth.entropy = 0x89AB'CDEF;
  frame.seth.spdcid = 1;
  frame.seth.dpdcid = 2;
  frame.seth.cack_psn = 4;
  frame.seth.cc_type = 2;
  frame.seth.cc_fl = 5;
  frame.seth.mpr = 8;
  frame.seth.sack_offset = 1;
  frame.seth.sack_bitmap = 0b1110110;
  frame.cc_state.tx_timestamp = 0x5566;
  frame.cc_state.ooo_count = 5;
  frame.cc_state.restore_cwnd = 1;
  frame.cc_state.rcv_cwnd_pen = 3;
  frame.cc_state.rcvd_bytes = 0x000123;
  expect_transport(frame,
                   "DC 00 FFFF 00 123456 00 000004"
                   "A8A0 FFFE 89ABCDEF 0001 0002 00 000004 25 08 0001 0000000000000076"
                   "5566 0005 83 000123");
}

TEST(Golden, SackOfProbe) {
  Frame frame = plain_frame(Opcode::sack);
  frame.seth.m = 2;
  frame.seth.pr = 1;
  frame.seth.ack_psn_offset = 0x1234;
  frame.seth.sack_bitmap = 1ULL << 63;
  frame.cc_state.ooo_count = 0x7FFF;
  frame.cc_state.rcv_cwnd_pen = 127;
  expect_transport(frame,
                   "DC 00 FFFF 00 123456 00 ABCDEF"
                   "0042 1234 00000000 0000 0000 00 000000 00 00 0000 8000000000000000"
                   "0000 7FFF 7F 000000");
}

TEST(Golden, Nack) {
  Frame frame = plain_frame(Opcode::nack);
  frame.neth.nack_reason = 0x06;
  frame.neth.vendor_info = 0x7F;
  frame.neth.entropy = 0x0102'0304;
  frame.neth.nack_psn = 0xABCDEF;
  frame.neth.tx_timestamp = 0x7788;
  expect_transport(frame,
                   "DD 00 FFFF 00 123456 00 ABCDEF"
                   "0000 06 7F 01020304 0000 0000 00 ABCDEF 20 00 7788");
}

TEST(Golden, ProbeRequest) {
  Frame frame = plain_frame(Opcode::probe_request);
  frame.bth.psn = 0;
  frame.peth.probe_id = 0x1234;
  frame.peth.tx_timestamp = 0x9ABC;
  expect_transport(frame,
                   "DE 00 FFFF 00 123456 00 000000"
                   "0000 00 00 1234 0000 0000 0000 9ABC 0001");
}

/// A transport ACK under SRv6: 68 B behind the outer header, 28 B behind the inner one.
Frame stacked_frame() {
  Frame frame = plain_frame(Opcode::transport_ack);
  frame.ethernet = {0x026D'0300'0001, 0x026D'0300'0000, 0};
  Ipv6Header& outer = frame.outer.emplace();
  outer.dscp = 46;
  outer.ecn = 2;
  outer.flow_label = 0xABCDE;
  outer.hop_limit = 63;
  outer.src = {0xFD6D'7263'0000'0003, 1};
  outer.dst = {0xFCBB'BB00'0001'0002, 0x0003'0000'0000'0000};
  frame.ipv6.dscp = 46;
  frame.ipv6.ecn = 2;
  frame.ipv6.flow_label = 0x01234;
  frame.ipv6.src = {0xFD6D'7263'0000'0003, 1};
  frame.ipv6.dst = {0xFD6D'7263'0000'0003, 2};
  frame.udp.src_port = 0x5678;
  return frame;
}

void expect_stack(Frame frame, std::string_view hex) {
  complete(frame);
  std::vector<std::byte> bytes;
  encode_frame(frame, bytes);
  EXPECT_EQ(to_hex(std::span(bytes).first(bytes.size() - 20)), to_hex(from_hex(hex)));
  Frame decoded;
  ASSERT_FALSE(decode_frame(bytes, {}, decoded));
  EXPECT_EQ(decoded.ethernet, frame.ethernet);
  EXPECT_EQ(decoded.outer, frame.outer);
  EXPECT_EQ(decoded.srh, frame.srh);
  EXPECT_EQ(decoded.ipv4, frame.ipv4);
  EXPECT_EQ(decoded.udp, frame.udp);
}

TEST(Golden, Srv6Carrier) {
  expect_stack(stacked_frame(),
               "026D03000001 026D03000000 86DD"
               "6BAABCDE 0044 29 3F FD6D7263000000030000000000000001 FCBBBB00000100020003000000000000"
               "6BA01234 001C 11 40 FD6D7263000000030000000000000001 FD6D7263000000030000000000000002"
               "5678 12B7 001C 0000");
}

TEST(Golden, SegmentRoutingHeader) {
  Frame frame = stacked_frame();
  frame.srh.emplace().segment = {0xFCBB'BB00'0001'0002, 0x0003'0000'0000'0000};
  frame.srh->tag = 0xBEEF;
  expect_stack(frame,
               "026D03000001 026D03000000 86DD"
               "6BAABCDE 005C 2B 3F FD6D7263000000030000000000000001 FCBBBB00000100020003000000000000"
               "29 02 04 00 00 00 BEEF FCBBBB00000100020003000000000000"
               "6BA01234 001C 11 40 FD6D7263000000030000000000000001 FD6D7263000000030000000000000002"
               "5678 12B7 001C 0000");
}

TEST(Golden, InnerIpv4) {
  Frame frame = stacked_frame();
  frame.ipv4 = Ipv4Header{.dscp = 46, .ecn = 2, .identification = 0x1234, .src = 0x0A00'0001, .dst = 0x0A00'0002};
  expect_stack(frame,
               "026D03000001 026D03000000 86DD"
               "6BAABCDE 0030 04 3F FD6D7263000000030000000000000001 FCBBBB00000100020003000000000000"
               "45 BA 0030 1234 4000 40 11 13CD 0A000001 0A000002"
               "5678 12B7 001C 0000");
}

TEST(Golden, PlainIpv4) {
  Frame frame = stacked_frame();
  frame.outer.reset();
  frame.ipv4 = Ipv4Header{.dscp = 46, .ecn = 2, .identification = 0x1234, .src = 0x0A00'0001, .dst = 0x0A00'0002};
  expect_stack(frame,
               "026D03000001 026D03000000 0800"
               "45 BA 0030 1234 4000 40 11 13CD 0A000001 0A000002"
               "5678 12B7 001C 0000");
}

}  // namespace
}  // namespace mrc::wire
