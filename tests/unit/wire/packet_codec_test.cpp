// Packets of the model as bytes and back: addresses, EVs, DSCPs and what damage does to them.
#include "mrc/wire/packet_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "frame_generator.h"
#include "hex.h"

namespace mrc::wire {
namespace {

constexpr std::uint32_t kTrimBytes = 144;

std::vector<std::byte> encoded(const Packet& packet, const ProtocolConfig& config) {
  std::vector<std::byte> bytes;
  encode_packet(packet, config, kTrimBytes, bytes);
  return bytes;
}

Frame decoded(std::span<const std::byte> bytes, const ProtocolConfig& config) {
  Frame frame;
  const auto error = decode_frame(bytes, decode_options(config), frame);
  EXPECT_FALSE(error) << error->header << " " << error->field << " " << error->reason;
  return frame;
}

void expect_same_extension(const Packet& a, const Packet& b) {
  switch (a.opcode) {
    case Opcode::sack:
      EXPECT_EQ(a.sack.sack_bitmap, b.sack.sack_bitmap);
      EXPECT_EQ(a.sack.cack_psn, b.sack.cack_psn);
      EXPECT_EQ(a.sack.entropy, b.sack.entropy);
      EXPECT_EQ(a.sack.rcvd_bytes, b.sack.rcvd_bytes);
      EXPECT_EQ(a.sack.sack_offset, b.sack.sack_offset);
      EXPECT_EQ(a.sack.ack_psn_offset, b.sack.ack_psn_offset);
      EXPECT_EQ(a.sack.tx_timestamp, b.sack.tx_timestamp);
      EXPECT_EQ(a.sack.ooo_count, b.sack.ooo_count);
      EXPECT_EQ(a.sack.mpr, b.sack.mpr);
      EXPECT_EQ(a.sack.rcv_cwnd_pen, b.sack.rcv_cwnd_pen);
      EXPECT_EQ(a.sack.mark, b.sack.mark);
      EXPECT_EQ(a.sack.probe, b.sack.probe);
      EXPECT_EQ(a.sack.restore_cwnd, b.sack.restore_cwnd);
      return;
    case Opcode::nack:
      EXPECT_EQ(a.nack.nack_psn, b.nack.nack_psn);
      EXPECT_EQ(a.nack.entropy, b.nack.entropy);
      EXPECT_EQ(a.nack.tx_timestamp, b.nack.tx_timestamp);
      EXPECT_EQ(a.nack.reason, b.nack.reason);
      EXPECT_EQ(a.nack.vendor_info, b.nack.vendor_info);
      return;
    case Opcode::probe_request:
      EXPECT_EQ(a.probe.probe_id, b.probe.probe_id);
      return;
    case Opcode::endpoint_request:
    case Opcode::endpoint_response:
      EXPECT_EQ(a.endpoint.port_status_mask, b.endpoint.port_status_mask);
      EXPECT_EQ(a.endpoint.request_id, b.endpoint.request_id);
      EXPECT_EQ(a.endpoint.op, b.endpoint.op);
      return;
    case Opcode::transport_ack:
      EXPECT_EQ(a.transport_ack.msn, b.transport_ack.msn);
      EXPECT_EQ(a.transport_ack.syndrome, b.transport_ack.syndrome);
      return;
    default:
      break;
  }
  EXPECT_EQ(a.va, b.va);
  EXPECT_EQ(a.dma_length, b.dma_length);
  EXPECT_EQ(a.rkey, b.rkey);
  EXPECT_EQ(a.immediate, b.immediate);
  EXPECT_EQ(a.msn, b.msn);
  EXPECT_EQ(a.rqmsn, b.rqmsn);
}

void expect_same(const Packet& a, const Packet& b, bool encapsulated) {
  EXPECT_EQ(a.opcode, b.opcode);
  EXPECT_EQ(a.source_node, b.source_node);
  EXPECT_EQ(a.destination_node, b.destination_node);
  EXPECT_EQ(a.plane, b.plane);
  EXPECT_EQ(encapsulated ? a.outer_dst : Ipv6Address{}, b.outer_dst);
  EXPECT_EQ(a.hop_limit, b.hop_limit);
  EXPECT_EQ(a.ecn, b.ecn);
  EXPECT_EQ(a.role, b.role);
  EXPECT_EQ(a.ev, b.ev);
  EXPECT_EQ(a.destination_qp, b.destination_qp);
  EXPECT_EQ(a.psn, b.psn);
  EXPECT_EQ(a.pkey, b.pkey);
  EXPECT_EQ(a.ack_request, b.ack_request);
  EXPECT_EQ(a.retransmission, b.retransmission);
  EXPECT_EQ(a.has_timestamp, b.has_timestamp);
  EXPECT_EQ(a.tx_timestamp, b.tx_timestamp);
  EXPECT_EQ(a.timestamp_in_us, b.timestamp_in_us);
  expect_same_extension(a, b);
}

std::string opcode_name(const ::testing::TestParamInfo<Opcode>& test) {
  return "x" + to_hex(std::array{static_cast<std::byte>(test.param)});
}
class EveryPacket : public ::testing::TestWithParam<Opcode> {};
INSTANTIATE_TEST_SUITE_P(PacketCodec, EveryPacket, ::testing::ValuesIn(kOpcodes), opcode_name);
class EveryWritePacket : public ::testing::TestWithParam<Opcode> {};
INSTANTIATE_TEST_SUITE_P(PacketCodec, EveryWritePacket, ::testing::ValuesIn(kWriteOpcodes), opcode_name);

TEST_P(EveryPacket, PacketComesBack) {
  FrameGenerator generator(31);
  ProtocolConfig config;
  for (int round = 0; round < 300; ++round) {
    config.encapsulation = kEncapsulations[generator.random().below(3)];
    config.ev_half_order = static_cast<EvHalfOrder>(generator.random().below(2));
    config.udp_port = static_cast<std::uint16_t>(generator.random().next());
    const Packet packet = generator.packet(GetParam(), generator.random().below(4097));
    const auto bytes = encoded(packet, config);
    EXPECT_EQ(bytes.size() + 4 + 20, wire_bytes(packet, config.encapsulation));
    const Frame frame = decoded(bytes, config);
    EXPECT_EQ(frame.icrc, frame.icrc_expected);
    const Packet back = from_frame(frame, config);
    expect_same(packet, back, config.encapsulation != Encapsulation::none);
    EXPECT_EQ(back.damage, Damage::none);
    EXPECT_EQ(to_hex({back.payload, back.payload_bytes}), to_hex({packet.payload, packet.payload_bytes}));
    if (HasFailure()) return;
  }
}

TEST_P(EveryPacket, CorruptedPacketDiffersInOneBitThatIcrcFinds) {
  FrameGenerator generator(32);
  const ProtocolConfig config;
  for (int round = 0; round < 200; ++round) {
    Packet packet = generator.packet(GetParam(), 50);
    const auto right = encoded(packet, config);
    packet.damage = Damage::corrupted;
    packet.corrupt_bit = static_cast<std::uint32_t>(generator.random().next());
    const auto wrong = encoded(packet, config);
    ASSERT_EQ(wrong.size(), right.size());
    int bits = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      bits += std::popcount(std::to_integer<unsigned>(right[i] ^ wrong[i]));
    }
    EXPECT_EQ(bits, 1);
    Frame frame;
    const auto error = decode_frame(wrong, decode_options(config), frame);
    EXPECT_TRUE(error || frame.icrc != frame.icrc_expected);
  }
}

TEST_P(EveryWritePacket, TrimmedPacketKeepsItsHeadAndItsLengths) {
  FrameGenerator generator(33);
  ProtocolConfig config;
  config.mtu_bytes = 1024;
  for (const Encapsulation encapsulation : kEncapsulations) {
    config.encapsulation = encapsulation;
    for (const bool last_hop : {false, true}) {
      Packet packet = generator.packet(GetParam(), 1024);
      packet.dma_length = GetParam() == Opcode::write_only || GetParam() == Opcode::write_only_imm ? 1024 : 4096;
      const auto whole = encoded(packet, config);
      const Packet sent = packet;
      packet.damage = Damage::trimmed;
      packet.role = TrafficRole::trimmed;
      packet.trimmed_at_last_hop = last_hop;
      packet.payload = nullptr;
      packet.payload_bytes = 0;
      std::vector<std::byte> bytes;
      EXPECT_EQ(encode_packet(packet, config, kTrimBytes, bytes), whole.size());
      EXPECT_EQ(bytes.size(), kTrimBytes);
      EXPECT_EQ(bytes.size() + 4 + 20, link_bytes(packet, encapsulation, kTrimBytes));
      const Frame frame = decoded(bytes, config);
      EXPECT_TRUE(frame.trimmed);
      const Ipv6Header& outermost = frame.outer ? *frame.outer : frame.ipv6;
      EXPECT_EQ(outermost.dscp, last_hop ? 16 : 12);
      if (frame.outer) {
        EXPECT_EQ(frame.ipv6.dscp, sent.retransmission ? 8 : 4);
      }
      const Packet back = from_frame(frame, config);
      EXPECT_EQ(back.damage, Damage::trimmed);
      EXPECT_EQ(back.trimmed_at_last_hop, last_hop);
      EXPECT_EQ(back.role, last_hop ? TrafficRole::trimmed_lasthop : TrafficRole::trimmed);
      EXPECT_EQ(back.payload_bytes, 0U);
      EXPECT_EQ(back.psn, sent.psn);
      EXPECT_EQ(back.retransmission, sent.retransmission);
      EXPECT_EQ(back.msn, sent.msn);
    }
  }
}

TEST(PacketCodec, PacketSmallerThanTheTrimSizeStaysWhole) {
  FrameGenerator generator(34);
  ProtocolConfig config;
  Packet packet = generator.packet(Opcode::write_only, 4);
  packet.dma_length = 4;
  packet.damage = Damage::trimmed;
  std::vector<std::byte> bytes;
  const std::size_t sent_bytes = encode_packet(packet, config, 1000, bytes);
  EXPECT_EQ(bytes.size(), sent_bytes);
  EXPECT_FALSE(decoded(bytes, config).trimmed);
}

TEST(PacketCodec, PayloadByReferenceIsZeros) {
  FrameGenerator generator(35);
  const ProtocolConfig config;
  Packet packet = generator.packet(Opcode::write_only, 9);
  packet.payload = nullptr;
  const auto bytes = encoded(packet, config);
  const Frame frame = decoded(bytes, config);
  EXPECT_EQ(to_hex(frame.payload), "000000000000000000");
  EXPECT_EQ(frame.icrc, frame.icrc_expected);
}

TEST(PacketCodec, SentPayloadOfATrimmedPacket) {
  Packet packet;
  packet.damage = Damage::trimmed;
  const auto sent = [&](Opcode opcode, std::uint32_t message_bytes) {
    packet.opcode = opcode;
    packet.dma_length = message_bytes;
    return sent_payload_bytes(packet, 4096);
  };
  EXPECT_EQ(sent(Opcode::write_first, 10'000), 4096U);
  EXPECT_EQ(sent(Opcode::write_middle, 10'000), 4096U);
  EXPECT_EQ(sent(Opcode::write_last, 10'000), 1808U);
  EXPECT_EQ(sent(Opcode::write_last_imm, 8192), 4096U);
  EXPECT_EQ(sent(Opcode::write_only, 17), 17U);
  EXPECT_EQ(sent(Opcode::write_only_imm, 4096), 4096U);
  packet.damage = Damage::none;
  packet.payload_bytes = 5;
  EXPECT_EQ(sent(Opcode::write_first, 10'000), 5U);
}

TEST(PacketCodec, EvIsSplitBetweenSourcePortAndFlowLabel) {
  const EvFields low = split_ev(0x1234'ABCD, EvHalfOrder::low_to_source_port);
  EXPECT_EQ(low.source_port, 0xABCD);
  EXPECT_EQ(low.flow_label_low, 0x1234);
  const EvFields high = split_ev(0x1234'ABCD, EvHalfOrder::high_to_source_port);
  EXPECT_EQ(high.source_port, 0x1234);
  EXPECT_EQ(high.flow_label_low, 0xABCD);
  EXPECT_EQ(join_ev(low, EvHalfOrder::low_to_source_port), 0x1234'ABCDU);
  EXPECT_EQ(join_ev(high, EvHalfOrder::high_to_source_port), 0x1234'ABCDU);
}

TEST(PacketCodec, EachRoleHasItsDscp) {
  FrameGenerator generator(36);
  ProtocolConfig config;
  config.dscp = {40, 41, 42, 43, 44, 45};
  for (const Encapsulation encapsulation : kEncapsulations) {
    config.encapsulation = encapsulation;
    for (std::size_t role = 0; role < 4; ++role) {
      Packet packet = generator.packet(Opcode::write_only, 16);
      packet.role = static_cast<TrafficRole>(role);
      const auto bytes = encoded(packet, config);
      const Frame frame = decoded(bytes, config);
      EXPECT_EQ(frame.ipv6.dscp, 40 + role);
      EXPECT_EQ(frame.outer ? frame.outer->dscp : frame.ipv6.dscp, 40 + role);
      EXPECT_EQ(from_frame(frame, config).role, packet.role);
    }
  }
}

TEST(PacketCodec, DataOfEachClassHasADscpOfItsOwnAndControlHasOne) {
  FrameGenerator generator(38);
  const ProtocolConfig config;
  std::set<std::uint8_t> dscps;
  for (std::uint8_t traffic_class = 0; traffic_class < kMostTrafficClasses; ++traffic_class) {
    for (const TrafficRole role : {TrafficRole::trimmable, TrafficRole::no_trim, TrafficRole::trimmable_retx}) {
      Packet packet = generator.packet(Opcode::write_only, 16);
      packet.role = role;
      packet.traffic_class = traffic_class & 3;
      const auto bytes = encoded(packet, config);
      const Frame frame = decoded(bytes, config);
      EXPECT_TRUE(dscps.insert(frame.ipv6.dscp).second) << "DSCP " << int{frame.ipv6.dscp} << " appears twice";
      EXPECT_EQ(from_frame(frame, config).role, role);
      EXPECT_EQ(from_frame(frame, config).traffic_class, traffic_class);
    }
  }
  EXPECT_EQ(config.dscp_of(TrafficRole::control, 3), config.dscp_of(TrafficRole::control, 0));
  EXPECT_EQ(config.dscp_of(TrafficRole::trimmed, 3), config.dscp_of(TrafficRole::trimmed, 0));
}

TEST(PacketCodec, CongestionMarksAreOfTheOutermostHeader) {
  FrameGenerator generator(37);
  ProtocolConfig config;
  Packet packet = generator.packet(Opcode::write_only, 16);
  packet.ecn = Ecn::ce;
  packet.hop_limit = 3;
  const Frame encapsulated = to_frame(packet, config, {packet.payload, 16});
  EXPECT_EQ(encapsulated.outer->ecn, 3);
  EXPECT_EQ(encapsulated.outer->hop_limit, 3);
  EXPECT_EQ(encapsulated.ipv6.ecn, 2);
  EXPECT_EQ(encapsulated.ipv6.hop_limit, 64);
  config.encapsulation = Encapsulation::none;
  const Frame plain = to_frame(packet, config, {packet.payload, 16});
  EXPECT_FALSE(plain.outer);
  EXPECT_EQ(plain.ipv6.ecn, 3);
  EXPECT_EQ(plain.ipv6.hop_limit, 3);
}

TEST(PacketCodec, SegmentRoutingHeaderHoldsTheCarrier) {
  FrameGenerator generator(38);
  ProtocolConfig config;
  config.encapsulation = Encapsulation::srv6_srh;
  const Packet packet = generator.packet(Opcode::nack, 0);
  const Frame frame = to_frame(packet, config, {});
  ASSERT_TRUE(frame.srh);
  EXPECT_EQ(frame.srh->segment, packet.outer_dst);
  EXPECT_EQ(frame.outer->dst, packet.outer_dst);
}

TEST(AddressPlan, PortsHaveAddressesOfTheirOwn) {
  EXPECT_EQ(port_address(0, 0), (Ipv6Address{0xFD6D'7263'0000'0000, 1}));
  EXPECT_EQ(port_address(5, 7), (Ipv6Address{0xFD6D'7263'0000'0007, 6}));
  EXPECT_EQ(to_hex(port_mac(0x123456, 3)), "026D03123456");
}

}  // namespace
}  // namespace mrc::wire
