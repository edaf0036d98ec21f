#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "mrc/packet.h"
#include "mrc/random.h"
#include "mrc/ring.h"
#include "mrc/tx/segmenter.h"
#include "mrc/tx/work_request.h"
#include "mrc/types.h"

namespace mrc {
namespace {

TEST(Psn, AddsModulo24Bits) {
  EXPECT_EQ(psn_add(0xFF'FFFE, 3), 1U);
  EXPECT_EQ(psn_add(1, -3), 0xFF'FFFEU);
  EXPECT_EQ(psn_add(5, 0), 5U);
  EXPECT_EQ(psn_add(7, 1LL << 24), 7U);
}

TEST(Psn, DistanceIsSignedOverTheWrap) {
  EXPECT_EQ(psn_distance(1, 0xFF'FFFE), 3);
  EXPECT_EQ(psn_distance(0xFF'FFFE, 1), -3);
  EXPECT_EQ(psn_distance(9, 9), 0);
  EXPECT_EQ(psn_distance(0x7F'FFFF, 0), 0x7F'FFFF);
  EXPECT_EQ(psn_distance(0x80'0000, 0), -0x80'0000);
}

TEST(Psn, DistanceUndoesAdd) {
  KeyedRandom random(1, "psn");
  for (int i = 0; i < 10'000; ++i) {
    const auto psn = static_cast<Psn>(random.below(1U << 24));
    const std::int64_t delta = static_cast<std::int64_t>(random.below(1U << 24)) - (1 << 23);
    ASSERT_EQ(psn_distance(psn_add(psn, delta), psn), delta);
  }
}

TEST(KeyedRandom, SameKeySameNumbersOtherKeyOthers) {
  KeyedRandom a(1, "nic0"), b(1, "nic0"), other_seed(2, "nic0"), other_object(1, "nic1");
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    EXPECT_NE(value, other_seed.next());
    EXPECT_NE(value, other_object.next());
  }
}

TEST(KeyedRandom, UniformAndBelowStayInRangeAndFillIt) {
  KeyedRandom random(3, 7);
  std::array<std::uint32_t, 10> hits{};
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    ++hits.at(random.below(10));
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
  for (const std::uint32_t hit : hits) EXPECT_NEAR(hit, 10'000, 500);
}

TEST(KeyedRandom, AnImpossibleChanceDrawsNothing) {
  KeyedRandom a(1, "x"), b(1, "x");
  EXPECT_FALSE(a.chance(0.0));
  EXPECT_FALSE(a.chance(-1.0));
  EXPECT_EQ(a.next(), b.next());
  EXPECT_TRUE(a.chance(1.0));
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) hits += a.chance(0.25) ? 1 : 0;
  EXPECT_NEAR(hits, 2'500, 150);
}

TEST(Ring, FirstInFirstOutOverGrowthAndWrap) {
  Ring<int> ring;
  EXPECT_TRUE(ring.empty());
  int in = 0, out = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 7; ++i) ring.push(in++);
    for (int i = 0; i < 5; ++i, ring.pop()) ASSERT_EQ(ring.front(), out++);
  }
  EXPECT_EQ(ring.size(), 100U);
  EXPECT_EQ(ring.back(), in - 1);
  const Ring<int>& view = ring;
  EXPECT_EQ(view.front(), out);
  for (std::uint64_t i = 0; i < ring.size(); ++i) {
    ASSERT_EQ(ring[i], out + static_cast<int>(i));
    ASSERT_EQ(view[i], ring[i]);
  }
  ring.clear();
  EXPECT_EQ(ring.size(), 0U);
}

TEST(Ring, HoldsItemsThatOnlyMove) {
  Ring<std::unique_ptr<int>> ring;
  for (int i = 0; i < 20; ++i) ring.push(std::make_unique<int>(i));
  EXPECT_EQ(*ring.front(), 0);
  EXPECT_EQ(*ring.back(), 19);
}

TEST(Segmenter, PacketsOfAMessage) {
  EXPECT_EQ(packets_in(1, 4096), 1U);
  EXPECT_EQ(packets_in(4096, 4096), 1U);
  EXPECT_EQ(packets_in(4097, 4096), 2U);
  EXPECT_EQ(packets_in(8192, 4096), 2U);
  EXPECT_EQ(packets_in(0xFFFF'FFFF, 4096), 1U << 20);
  EXPECT_EQ(packets_in(0xFFFF'FFFF, 256), 1U << 24);
}

TEST(Segmenter, OpcodesByPlaceInTheMessage) {
  EXPECT_EQ(write_opcode(0, 1, false), Opcode::write_only);
  EXPECT_EQ(write_opcode(0, 1, true), Opcode::write_only_imm);
  for (const bool immediate : {false, true}) {
    EXPECT_EQ(write_opcode(0, 3, immediate), Opcode::write_first);
    EXPECT_EQ(write_opcode(1, 3, immediate), Opcode::write_middle);
    EXPECT_EQ(write_opcode(0, 2, immediate), Opcode::write_first);
  }
  EXPECT_EQ(write_opcode(2, 3, false), Opcode::write_last);
  EXPECT_EQ(write_opcode(2, 3, true), Opcode::write_last_imm);
  EXPECT_EQ(write_opcode(1, 2, true), Opcode::write_last_imm);
}

TEST(Opcode, NumbersAndKinds) {
  struct Row {
    Opcode opcode;
    std::uint8_t number;
    bool data, immediate, ends;
  };
  const Row rows[] = {{Opcode::write_first, 0xC6, true, false, false},
                      {Opcode::write_middle, 0xC7, true, false, false},
                      {Opcode::write_last, 0xC8, true, false, true},
                      {Opcode::write_last_imm, 0xC9, true, true, true},
                      {Opcode::write_only, 0xCA, true, false, true},
                      {Opcode::write_only_imm, 0xCB, true, true, true},
                      {Opcode::transport_ack, 0xD1, false, false, false},
                      {Opcode::endpoint_request, 0xD8, false, false, false},
                      {Opcode::endpoint_response, 0xD9, false, false, false},
                      {Opcode::sack, 0xDC, false, false, false},
                      {Opcode::nack, 0xDD, false, false, false},
                      {Opcode::probe_request, 0xDE, false, false, false}};
  for (const Row& row : rows) {
    EXPECT_EQ(static_cast<std::uint8_t>(row.opcode), row.number);
    EXPECT_EQ(is_data(row.opcode), row.data) << int{row.number};
    EXPECT_EQ(has_immediate(row.opcode), row.immediate) << int{row.number};
    EXPECT_EQ(ends_message(row.opcode), row.ends) << int{row.number};
  }
}

// Header sizes: BTH 12, METH 4, TSETH 4, RETH 16, ImmDt 4, SETH + CC_STATE 36, NETH 20, AETH 4, PETH 16, ERTH 16,
// EETH 36.
TEST(PacketSize, TransportHeadersByOpcode) {
  Packet packet;
  const auto bytes = [&](Opcode opcode) {
    packet.opcode = opcode;
    return transport_header_bytes(packet);
  };
  EXPECT_EQ(bytes(Opcode::write_middle), 36U);
  EXPECT_EQ(bytes(Opcode::write_only_imm), 40U);
  EXPECT_EQ(bytes(Opcode::sack), 48U);
  EXPECT_EQ(bytes(Opcode::nack), 32U);
  EXPECT_EQ(bytes(Opcode::transport_ack), 16U);
  EXPECT_EQ(bytes(Opcode::probe_request), 28U);
  EXPECT_EQ(bytes(Opcode::endpoint_request), 28U);
  EXPECT_EQ(bytes(Opcode::endpoint_response), 48U);
  packet.has_timestamp = false;
  EXPECT_EQ(bytes(Opcode::write_middle), 32U);
}

TEST(PacketSize, BytesOnTheWireByEncapsulation) {
  Packet packet;
  packet.opcode = Opcode::write_middle;
  packet.payload_bytes = 4096;
  // 38 Ethernet + 40 inner IPv6 + 8 UDP + 36 transport + 4096 + 4 ICRC = 4222.
  EXPECT_EQ(wire_bytes(packet, Encapsulation::none), 4222U);
  EXPECT_EQ(wire_bytes(packet, Encapsulation::srv6), 4262U);
  EXPECT_EQ(wire_bytes(packet, Encapsulation::srv6_srh), 4286U);
  packet.without_srh = true;
  EXPECT_EQ(wire_bytes(packet, Encapsulation::srv6_srh), 4262U);
  packet.payload_bytes = 4093;
  EXPECT_EQ(wire_bytes(packet, Encapsulation::srv6), 4262U);
  EXPECT_EQ(link_bytes(packet, Encapsulation::srv6, 128), 4262U);
  packet.damage = Damage::trimmed;
  // What is left of the frame, its FCS and 20 B of preamble and gap.
  EXPECT_EQ(link_bytes(packet, Encapsulation::srv6, 128), 152U);
}

TEST(PacketSize, PadFillsToWords) {
  EXPECT_EQ(pad_bytes(0), 0U);
  EXPECT_EQ(pad_bytes(1), 3U);
  EXPECT_EQ(pad_bytes(2), 2U);
  EXPECT_EQ(pad_bytes(3), 1U);
  EXPECT_EQ(pad_bytes(4), 0U);
}

// nominal_pktsize = UDP length + 40: 8 + 36 + 4096 + 4 + 40.
TEST(PacketSize, NominalIsUdpLengthAnd40) {
  EXPECT_EQ(nominal_data_bytes(4096, false), 4184U);
  EXPECT_EQ(nominal_data_bytes(4096, true), 4188U);
  EXPECT_EQ(nominal_data_bytes(1, false), 92U);
  Packet packet;
  packet.payload_bytes = 4096;
  EXPECT_EQ(nominal_bytes(packet), 4184U);
  packet.opcode = Opcode::write_only_imm;
  EXPECT_EQ(nominal_bytes(packet), 4188U);
}

TEST(CompletionStatus, HasItsName) {
  EXPECT_EQ(to_string(CompletionStatus::success), "success");
  EXPECT_EQ(to_string(CompletionStatus::retry_exceeded), "retry counter exceeded");
  EXPECT_EQ(to_string(CompletionStatus::remote_operation_error), "remote operation error");
  EXPECT_EQ(to_string(CompletionStatus::flushed), "flushed");
}

}  // namespace
}  // namespace mrc
