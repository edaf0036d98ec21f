// Encoding and decoding are inverse; every wrong byte is named or found by ICRC; nothing outside the bytes is read.
#include "mrc/wire/frame.h"

#include <gtest/gtest.h>

#include <functional>

#include "frame_generator.h"
#include "hex.h"

namespace mrc::wire {
namespace {

constexpr DecodeOptions kOptions;

std::vector<std::byte> encoded(const Frame& frame) {
  std::vector<std::byte> bytes;
  encode_frame(frame, bytes);
  return bytes;
}

std::string text_of(const std::optional<DecodeError>& error) {
  if (!error) return "none";
  return std::string(error->header) + "." + std::string(error->field) + " " + std::string(error->reason);
}

std::size_t network_bytes(const FrameShape& shape) {
  const std::size_t outer = encapsulation_bytes(shape.encapsulation);
  return 14 + outer + (shape.inner_ipv4 ? 20 : 40);
}

void expect_same(const Frame& decoded, const Frame& frame) {
  EXPECT_EQ(decoded.ethernet, frame.ethernet);
  EXPECT_EQ(decoded.outer, frame.outer);
  EXPECT_EQ(decoded.srh, frame.srh);
  EXPECT_EQ(decoded.ipv4, frame.ipv4);
  if (!frame.ipv4) {
    EXPECT_EQ(decoded.ipv6, frame.ipv6);
  }
  EXPECT_EQ(decoded.udp, frame.udp);
  EXPECT_EQ(mrc_fields(decoded), mrc_fields(frame));
  EXPECT_EQ(to_hex(decoded.payload), to_hex(frame.payload));
}

std::string opcode_name(const ::testing::TestParamInfo<Opcode>& test) {
  return "x" + to_hex(std::array{static_cast<std::byte>(test.param)});
}
class EveryFrame : public ::testing::TestWithParam<Opcode> {};
INSTANTIATE_TEST_SUITE_P(Frame, EveryFrame, ::testing::ValuesIn(kOpcodes), opcode_name);
class EveryWriteFrame : public ::testing::TestWithParam<Opcode> {};
INSTANTIATE_TEST_SUITE_P(Frame, EveryWriteFrame, ::testing::ValuesIn(kWriteOpcodes), opcode_name);

TEST_P(EveryFrame, DecodeIsInverseOfEncode) {
  FrameGenerator generator(11);
  for (int round = 0; round < 400; ++round) {
    const FrameShape shape = generator.shape(GetParam(), 4096);
    const Frame frame = generator.frame(shape);
    const auto bytes = encoded(frame);
    EXPECT_EQ(bytes.size(), network_bytes(shape) + 8 + transport_bytes(frame));
    Frame decoded;
    const auto error = decode_frame(bytes, kOptions, decoded);
    ASSERT_FALSE(error) << text_of(error);
    expect_same(decoded, frame);
    EXPECT_FALSE(decoded.trimmed);
    EXPECT_EQ(decoded.icrc, decoded.icrc_expected);
    EXPECT_EQ(encoded(decoded), bytes);
    if (HasFailure()) return;
  }
}

TEST_P(EveryFrame, CutAnywhereIsNamed) {
  FrameGenerator generator(12);
  for (const Encapsulation encapsulation : kEncapsulations) {
    for (const bool ipv4 : {false, true}) {
      const auto bytes = encoded(generator.frame({GetParam(), encapsulation, ipv4, true, 37}));
      for (std::size_t length = 0; length < bytes.size(); ++length) {
        // A vector of exactly that length: a sanitizer sees a read behind it.
        const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        Frame decoded;
        const auto error = decode_frame(cut, kOptions, decoded);
        ASSERT_TRUE(error) << length;
        EXPECT_FALSE(error->header.empty());
        EXPECT_FALSE(error->reason.empty());
        EXPECT_LE(error->offset, length);
        const bool names_length = error->field == "payload_length" || error->field == "total_length";
        EXPECT_TRUE(names_length || error->field.empty()) << text_of(error);
      }
    }
  }
}

/// Bits that neither ICRC nor the decoder's rules protect: addresses of Ethernet, the outer headers, and what may
/// change on the way.
std::vector<bool> unprotected_bits(const FrameShape& shape, std::size_t bytes) {
  std::vector<bool> bits(bytes * 8, false);
  const auto add = [&](std::size_t first_byte, std::size_t count, std::size_t skipped_bits = 0) {
    for (std::size_t i = first_byte * 8 + skipped_bits; i < (first_byte + count) * 8; ++i) bits[i] = true;
  };
  add(0, 12);
  std::size_t at = 14;
  if (shape.encapsulation != Encapsulation::none) {
    add(at, 4, 4);
    add(at + 7, 33);
    at += 40;
  }
  if (shape.encapsulation == Encapsulation::srv6_srh) {
    add(at + 3, 1, 7);  // segments left, 0 or 1
    add(at + 5, 19);
    at += 24;
  }
  if (!shape.inner_ipv4) {
    add(at, 4, 4);
    add(at + 7, 1);
  }
  at += shape.inner_ipv4 ? 20 : 40;
  add(at + 6, 2);
  add(at + 8 + 4, 1);
  return bits;
}

TEST_P(EveryFrame, EachBitIsProtectedOrMayChange) {
  FrameGenerator generator(13);
  for (const Encapsulation encapsulation : kEncapsulations) {
    for (const bool ipv4 : {false, true}) {
      const FrameShape shape{GetParam(), encapsulation, ipv4, true, 6};
      const auto bytes = encoded(generator.frame(shape));
      const auto unprotected = unprotected_bits(shape, bytes.size());
      for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto changed = bytes;
        changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
        Frame decoded;
        const auto error = decode_frame(changed, kOptions, decoded);
        const bool found = error || decoded.icrc != decoded.icrc_expected;
        EXPECT_EQ(found, !unprotected[bit]) << "bit " << bit << ": " << text_of(error);
        if (error) {
          EXPECT_FALSE(error->header.empty());
        }
      }
    }
  }
}

TEST_P(EveryWriteFrame, NonzeroPadBytesSurvive) {
  FrameGenerator generator(14);
  for (std::size_t payload_bytes = 0; payload_bytes < 8; ++payload_bytes) {
    Frame frame = generator.frame({GetParam(), Encapsulation::none, false, true, payload_bytes});
    EXPECT_EQ(frame.bth.pad, (8 - payload_bytes) % 4);
    frame.pad = {std::byte{0xA1}, std::byte{0xB2}, std::byte{0xC3}};
    const auto bytes = encoded(frame);
    Frame decoded;
    ASSERT_FALSE(decode_frame(bytes, kOptions, decoded));
    EXPECT_EQ(decoded.payload.size(), payload_bytes);
    EXPECT_EQ(decoded.icrc, decoded.icrc_expected);
    EXPECT_EQ(encoded(decoded), bytes);
  }
}

/// Extension headers that end within `bytes` of the transport part.
std::size_t whole_extensions(const Frame& frame, std::size_t bytes) {
  std::size_t at = 12;
  std::size_t whole = 0;
  visit_extensions(frame, [&](const auto& header) {
    at += header_bytes<std::remove_cvref_t<decltype(header)>>();
    whole += at <= bytes ? 1 : 0;
    return true;
  });
  return whole;
}

void mark_trimmed(Frame& frame, std::uint8_t dscp) {
  if (frame.outer) {
    frame.outer->dscp = dscp;
  } else if (frame.ipv4) {
    frame.ipv4->dscp = dscp;
    frame.ipv4->checksum = ipv4_checksum(*frame.ipv4);
  } else {
    frame.ipv6.dscp = dscp;
  }
}

void expect_trimmed(const Frame& frame, std::span<const std::byte> whole, const FrameShape& shape, std::size_t size) {
  const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  Frame decoded;
  const auto error = decode_frame(cut, kOptions, decoded);
  const std::size_t bth_end = network_bytes(shape) + 8 + 12;
  if (size < bth_end) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reason, "is cut off");
    EXPECT_EQ(error->field, "");
    return;
  }
  ASSERT_FALSE(error) << text_of(error);
  EXPECT_TRUE(decoded.trimmed);
  EXPECT_FALSE(decoded.icrc);
  EXPECT_EQ(decoded.whole_extensions, whole_extensions(frame, size - network_bytes(shape) - 8));
  auto expected = mrc_fields(frame);
  const auto fields = mrc_fields(decoded);
  ASSERT_LE(fields.size(), expected.size());
  expected.resize(fields.size());
  EXPECT_EQ(fields, expected);
  EXPECT_EQ(encoded(decoded), cut);
}

TEST_P(EveryFrame, TrimmedAtEverySize) {
  FrameGenerator generator(15);
  for (const Encapsulation encapsulation : kEncapsulations) {
    for (const bool ipv4 : {false, true}) {
      for (const std::uint8_t dscp : {kOptions.dscp_trimmed, kOptions.dscp_trimmed_lasthop}) {
        const FrameShape shape{GetParam(), encapsulation, ipv4, dscp == kOptions.dscp_trimmed, 1000};
        Frame frame = generator.frame(shape);
        mark_trimmed(frame, dscp);
        const auto whole = encoded(frame);
        for (std::size_t size = 64; size <= 256 && size < whole.size(); ++size) {
          expect_trimmed(frame, whole, shape, size);
        }
        Frame decoded;
        ASSERT_FALSE(decode_frame(whole, kOptions, decoded));
        EXPECT_FALSE(decoded.trimmed) << "a whole frame is whole whatever its DSCP says";
      }
    }
  }
}

TEST(Frame, CutWithoutTrimmedDscpIsAnError) {
  FrameGenerator generator(16);
  Frame frame = generator.frame({.encapsulation = Encapsulation::srv6, .payload_bytes = 500});
  mark_trimmed(frame, 0);
  auto bytes = encoded(frame);
  bytes.resize(128);
  Frame decoded;
  EXPECT_EQ(text_of(decode_frame(bytes, kOptions, decoded)), "IPv6.payload_length is more than the frame holds");
}

TEST(Frame, TrimmedFrameWithAWrongHeaderNamesIt) {
  FrameGenerator generator(17);
  Frame frame = generator.frame({.encapsulation = Encapsulation::none, .payload_bytes = 500});
  frame.tseth.ftype = 2;
  mark_trimmed(frame, kOptions.dscp_trimmed);
  auto bytes = encoded(frame);
  bytes.resize(128);
  Frame decoded;
  EXPECT_EQ(text_of(decode_frame(bytes, kOptions, decoded)), "TSETH.ftype is not 1");
}

TEST(Frame, UnknownOpcodeEncodesNoExtensions) {
  FrameGenerator generator(18);
  Frame frame = generator.frame({.opcode = Opcode::sack});
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    frame.bth.opcode = static_cast<std::uint8_t>(opcode);
    const bool known = std::find(kOpcodes.begin(), kOpcodes.end(), static_cast<Opcode>(opcode)) != kOpcodes.end();
    EXPECT_EQ(is_known_opcode(frame.bth.opcode), known);
    EXPECT_EQ(visit_extensions(frame, [](const auto&) { return true; }), known);
    if (known) continue;
    complete(frame);
    EXPECT_EQ(transport_bytes(frame), 12U + 4U);
    Frame decoded;
    EXPECT_EQ(text_of(decode_frame(encoded(frame), kOptions, decoded)), "BTH.opcode is not one of MRC's twelve");
  }
}

/// Inverts the lowest bit of one field.
class FieldChanger {
 public:
  explicit FieldChanger(unsigned field) : field_(field) {}

  template <typename Value>
  void operator()(std::string_view, unsigned, Value& value) {
    if (seen_++ != field_) return;
    if constexpr (std::is_same_v<Value, Ipv6Address>) {
      value.low ^= 1;
    } else {
      value = static_cast<Value>(value ^ 1);
    }
  }

 private:
  unsigned field_;
  unsigned seen_ = 0;
};

template <typename Header>
class EveryHeader : public ::testing::Test {};
using Headers = ::testing::Types<EthernetHeader, Ipv6Header, SegmentRoutingHeader, Ipv4Header, UdpHeader, Bth, Meth,
                                 Tseth, Reth, ImmDt, Seth, CcState, Neth, Peth, Erth, Eeth, Aeth>;
TYPED_TEST_SUITE(EveryHeader, Headers);

TYPED_TEST(EveryHeader, EachFieldCountsInItsBytesAndInComparison) {
  const TypeParam header;
  unsigned fields = 0;
  TypeParam::fields(header, [&](std::string_view, unsigned, const auto&) { ++fields; });
  std::vector<std::byte> bytes(header_bytes<TypeParam>());
  TypeParam::fields(header, BitWriter(bytes));
  for (unsigned i = 0; i < fields; ++i) {
    TypeParam changed;
    TypeParam::fields(changed, FieldChanger(i));
    EXPECT_FALSE(changed == header) << i;
    std::vector<std::byte> changed_bytes(bytes.size());
    TypeParam::fields(changed, BitWriter(changed_bytes));
    EXPECT_NE(to_hex(changed_bytes), to_hex(bytes)) << i;
    TypeParam back;
    TypeParam::fields(back, BitReader(changed_bytes));
    EXPECT_TRUE(back == changed) << i;
  }
}

struct Mistake {
  std::string_view error;
  FrameShape shape;
  std::function<void(Frame&)> make;
};

const FrameShape kWrite{.encapsulation = Encapsulation::srv6, .payload_bytes = 16};
const FrameShape kWithSrh{.encapsulation = Encapsulation::srv6_srh};
const FrameShape kInnerIpv4{.encapsulation = Encapsulation::srv6, .inner_ipv4 = true, .payload_bytes = 16};

FrameShape control(Opcode opcode) {
  return {.opcode = opcode, .encapsulation = Encapsulation::none};
}

void set_ipv4(Frame& frame, const std::function<void(Ipv4Header&)>& change) {
  change(*frame.ipv4);
  frame.ipv4->checksum = ipv4_checksum(*frame.ipv4);
}

const Mistake kMistakes[] = {
    {"Ethernet.ethertype is neither IPv6 nor IPv4", kWrite, [](Frame& f) { f.ethernet.ethertype = 0x0806; }},
    {"IPv6.version is not 6", kWrite, [](Frame& f) { f.outer->version = 4; }},
    {"IPv6.version is not 6", kWrite, [](Frame& f) { f.ipv6.version = 7; }},
    {"IPv6.payload_length is more than the frame holds", kWrite, [](Frame& f) { ++f.outer->payload_length; }},
    {"IPv6.payload_length is less than the frame holds", kWrite, [](Frame& f) { --f.outer->payload_length; }},
    {"IPv6.payload_length is more than the frame holds", kWrite, [](Frame& f) { ++f.ipv6.payload_length; }},
    {"IPv6.next_header is not UDP, SRH, IPv6 or IPv4", kWrite, [](Frame& f) { f.outer->next_header = 6; }},
    {"IPv6.next_header is not UDP", kWrite, [](Frame& f) { f.ipv6.next_header = 41; }},
    {"SRH.next_header is not UDP, SRH, IPv6 or IPv4", kWithSrh, [](Frame& f) { f.srh->next_header = 17; }},
    {"SRH.routing_type is not 4 (segment routing)", kWithSrh, [](Frame& f) { f.srh->routing_type = 0; }},
    {"SRH.hdr_ext_len does not stand for one segment", kWithSrh, [](Frame& f) { f.srh->length_8_bytes = 4; }},
    {"SRH.segments_left is more than the one segment", kWithSrh, [](Frame& f) { f.srh->segments_left = 2; }},
    {"SRH.last_entry is not the one segment", kWithSrh, [](Frame& f) { f.srh->last_entry = 1; }},
    {"IPv4.version is not 4", kInnerIpv4, [](Frame& f) { set_ipv4(f, [](auto& h) { h.version = 6; }); }},
    {"IPv4.ihl is not 5: options are not used", kInnerIpv4, [](Frame& f) { set_ipv4(f, [](auto& h) { h.ihl = 6; }); }},
    {"IPv4.fragment_offset says that it is a fragment", kInnerIpv4,
     [](Frame& f) { set_ipv4(f, [](auto& h) { h.fragment_offset = 1; }); }},
    {"IPv4.fragment_offset says that it is a fragment", kInnerIpv4,
     [](Frame& f) { set_ipv4(f, [](auto& h) { h.flags |= 1; }); }},
    {"IPv4.protocol is not UDP", kInnerIpv4, [](Frame& f) { set_ipv4(f, [](auto& h) { h.protocol = 6; }); }},
    {"IPv4.checksum is wrong", kInnerIpv4, [](Frame& f) { ++f.ipv4->checksum; }},
    {"IPv4.total_length is shorter than the header", kInnerIpv4,
     [](Frame& f) { set_ipv4(f, [](auto& h) { h.total_length = 19; }); }},
    {"IPv4.total_length is less than the frame holds", kInnerIpv4,
     [](Frame& f) { set_ipv4(f, [](auto& h) { h.total_length = 20; }); }},
    {"UDP.dst_port is not the port of MRC", kWrite, [](Frame& f) { f.udp.dst_port = 4790; }},
    {"UDP.length differs from what IP says", kWrite, [](Frame& f) { ++f.udp.length; }},
    {"BTH.tver is not 0", kWrite, [](Frame& f) { f.bth.tver = 1; }},
    {"BTH.pad does not fit the payload", {.encapsulation = Encapsulation::none}, [](Frame& f) { f.bth.pad = 1; }},
    {"BTH.opcode has no payload, but bytes follow", control(Opcode::nack),
     [](Frame& f) { f.bth.opcode = static_cast<std::uint8_t>(Opcode::transport_ack); }},
    {"BTH.opcode has no payload, but bytes follow", control(Opcode::transport_ack), [](Frame& f) { f.bth.pad = 2; }},
    {"TSETH.ftype is not 1", kWrite, [](Frame& f) { f.tseth.ftype = 0; }},
    {"RETH.dma_len is 0", kWrite, [](Frame& f) { f.reth.dma_length = 0; }},
    {"SETH.m is none of NONE, SKIP_ONCE, ALWAYS_SKIP", control(Opcode::sack), [](Frame& f) { f.seth.m = 3; }},
    {"NETH.nack_reason is none of the seven known", control(Opcode::nack), [](Frame& f) { f.neth.nack_reason = 0; }},
    {"NETH.nack_reason is none of the seven known", control(Opcode::nack), [](Frame& f) { f.neth.nack_reason = 3; }},
    {"PETH.ftype is not 1", control(Opcode::probe_request), [](Frame& f) { f.peth.ftype = 15; }},
    {"ERTH.op is neither PORT_STATUS_UPDATE nor EV_PROBE", control(Opcode::endpoint_request),
     [](Frame& f) { f.erth.op = 2; }},
    {"ERTH.ftype is not 1", control(Opcode::endpoint_request), [](Frame& f) { f.erth.ftype = 0; }},
    {"EETH.op is neither PORT_STATUS_UPDATE nor EV_PROBE", control(Opcode::endpoint_response),
     [](Frame& f) { f.eeth.first_half = 0x08; }},
};

TEST(Frame, EachMistakeIsNamed) {
  FrameGenerator generator(19);
  for (const Mistake& mistake : kMistakes) {
    Frame frame = generator.frame(mistake.shape);
    const auto right = encoded(frame);
    Frame decoded;
    ASSERT_FALSE(decode_frame(right, kOptions, decoded)) << mistake.error;
    mistake.make(frame);
    // Encoded unchanged: the lengths stay those of the right frame.
    auto wrong = encoded(frame);
    if (mistake.shape.opcode == Opcode::nack && frame.bth.opcode != static_cast<std::uint8_t>(Opcode::nack)) {
      wrong = right;
      wrong[14 + 40 + 8] = static_cast<std::byte>(frame.bth.opcode);
    }
    wrong.resize(right.size());
    EXPECT_EQ(text_of(decode_frame(wrong, kOptions, decoded)), mistake.error);
  }
}

/// A plain IPv6 frame with `transport_hex` behind UDP, its lengths right.
std::vector<std::byte> frame_of(std::string_view transport_hex) {
  Frame frame;
  frame.bth.opcode = 0;
  frame.icrc = 0;
  complete(frame);
  auto bytes = encoded(frame);
  bytes.resize(14 + 40 + 8);
  const auto transport = from_hex(transport_hex);
  bytes.insert(bytes.end(), transport.begin(), transport.end());
  const auto length = static_cast<std::byte>(8 + transport.size());
  bytes[14 + 5] = length;
  bytes[14 + 40 + 5] = length;
  return bytes;
}

TEST(Frame, WhatDoesNotFitIntoItsLengthsIsNamed) {
  Frame decoded;
  EXPECT_EQ(text_of(decode_frame(frame_of(""), kOptions, decoded)), "BTH. is cut off");
  EXPECT_EQ(text_of(decode_frame(frame_of("D1 00 FFFF 00 123456 00 ABCDEF 1F 01"), kOptions, decoded)),
            "AETH. is cut off");
  EXPECT_EQ(text_of(decode_frame(frame_of("D1 00 FFFF 00 123456 00 ABCDEF 1F 010203 000000"), kOptions, decoded)),
            "ICRC. is cut off");
  EXPECT_EQ(text_of(decode_frame(frame_of("C6 00 FFFF 00 123456 00 ABCDEF 01020304"
                                          "0000000000000000 00000000 00000001 AA 00000000"),
                                 kOptions, decoded)),
            "BTH.pad does not fit the payload");
}

TEST(Frame, OptionsMoveThePortTheDscpsAndTheEndpointOp) {
  FrameGenerator generator(20);
  Frame frame = generator.frame(control(Opcode::endpoint_response));
  frame.udp.dst_port = 4971;
  frame.eeth.first_half = 0x0008;
  complete(frame);
  Frame decoded;
  const DecodeOptions options{.udp_port = 4971, .eeth_op_position = EethOpPosition::bits_5_4};
  EXPECT_EQ(text_of(decode_frame(encoded(frame), options, decoded)), "none");
  frame.eeth.first_half = 0x0020;
  EXPECT_EQ(text_of(decode_frame(encoded(frame), options, decoded)),
            "EETH.op is neither PORT_STATUS_UPDATE nor EV_PROBE");

  Frame write = generator.frame({.encapsulation = Encapsulation::none, .payload_bytes = 400});
  mark_trimmed(write, 33);
  auto bytes = encoded(write);
  bytes.resize(200);
  EXPECT_EQ(text_of(decode_frame(bytes, {.dscp_trimmed = 33}, decoded)), "none");
  EXPECT_TRUE(decoded.trimmed);
  EXPECT_EQ(text_of(decode_frame(bytes, {.dscp_trimmed = 12, .dscp_trimmed_lasthop = 33}, decoded)), "none");
  EXPECT_TRUE(decoded.trimmed);
}

TEST(Frame, RandomBytesNeverPass) {
  KeyedRandom random(21, "bytes");
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random.below(300));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    Frame decoded;
    const auto error = decode_frame(bytes, kOptions, decoded);
    ASSERT_TRUE(error);
    EXPECT_FALSE(error->header.empty());
  }
}

}  // namespace
}  // namespace mrc::wire
