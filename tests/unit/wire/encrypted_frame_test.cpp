// Encrypted packets as bytes: their lengths, their headers, and that the holder of the key finds the packet in them.
#include "mrc/wire/encrypted_frame.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "frame_generator.h"
#include "hex.h"
#include "mrc/wire/packet_codec.h"

namespace mrc::wire {
namespace {

constexpr std::uint32_t kTrimBytes = 192;

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
  return value;
}

/// What a receiver does with the frame: the frame as it was before it was encrypted; empty where the tag is wrong.
std::optional<std::vector<std::byte>> opened(std::vector<std::byte> frame, const ProtocolConfig& config) {
  const CryptoFraming framing = config.encryption.framing;
  const bool esp = framing == CryptoFraming::esp;
  const std::size_t inner = kEthernetHeaderBytes + encapsulation_bytes(config.encapsulation);
  const std::size_t headers = inner + kIpv6HeaderBytes;
  const std::size_t body = headers + crypto_header_bytes(framing);
  const std::size_t spi_at = esp ? headers : headers + kUdpHeaderBytes + 4;
  const auto spi = static_cast<std::uint32_t>(number_at(frame, spi_at, 4));
  const std::uint64_t number = number_at(frame, spi_at + (esp ? 8 : 4), 8);
  AesBlock tag{};
  for (std::size_t i = 0; i < tag.size(); ++i) {
    tag[i] = std::to_integer<std::uint8_t>(frame[frame.size() - kCryptoTagBytes + i]);
  }
  const std::span<std::byte> all(frame);
  const auto authenticated = esp ? all.subspan(headers, kEspHeaderBytes)
                                 : all.subspan(headers + kUdpHeaderBytes, body - headers - kUdpHeaderBytes);
  const auto text = all.subspan(body, frame.size() - kCryptoTagBytes - body);
  const GcmNonce nonce = detail::gcm_nonce(spi, number);
  if (!AesGcm(crypto_key(spi)).decrypt(nonce, authenticated, text, tag)) return std::nullopt;
  const std::size_t plaintext = text.size() - (esp ? kEspPadAndTrailerBytes : 0);
  std::vector<std::byte> plain(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(headers));
  plain.insert(plain.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(plaintext));
  const auto put_length = [&](std::size_t at, std::size_t length) {
    plain[at] = static_cast<std::byte>(length >> 8);
    plain[at + 1] = static_cast<std::byte>(length & 0xFF);
  };
  put_length(inner + 4, plaintext);
  plain[inner + 6] = std::byte{kNextHeaderUdp};
  if (config.encapsulation != Encapsulation::none) {
    put_length(kEthernetHeaderBytes + 4, plain.size() - kEthernetHeaderBytes - kIpv6HeaderBytes);
  }
  return plain;
}

class EncryptedFrame : public ::testing::TestWithParam<std::tuple<CryptoFraming, Encapsulation, Opcode>> {
 protected:
  EncryptedFrame() {
    config_.encryption.framing = std::get<0>(GetParam());
    config_.encapsulation = std::get<1>(GetParam());
  }
  Packet packet(std::uint64_t number) {
    Packet made = generator_.packet(std::get<2>(GetParam()), generator_.random().below(4097));
    made.packet_number = number;
    return made;
  }

  FrameGenerator generator_{7};
  ProtocolConfig config_;
};

TEST_P(EncryptedFrame, HoldsThePacketForWhoHasTheKey) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const Packet sent = packet(number);
    std::vector<std::byte> bytes;
    encode_packet(sent, config_, kTrimBytes, bytes);
    EXPECT_EQ(bytes.size() + 4 + 20, wire_bytes(sent, config_));
    ProtocolConfig clear = config_;
    clear.encryption = {};
    std::vector<std::byte> expected;
    encode_packet(sent, clear, kTrimBytes, expected);
    const auto plain = opened(bytes, config_);
    ASSERT_TRUE(plain);
    EXPECT_EQ(to_hex(*plain), to_hex(expected));
    // Nothing of BTH and what follows it is in the clear.
    const std::size_t bth = kEthernetHeaderBytes + encapsulation_bytes(config_.encapsulation) + kIpv6HeaderBytes + 8;
    const std::size_t moved = bth + crypto_header_bytes(config_.encryption.framing);
    EXPECT_NE(to_hex(std::span(bytes).subspan(moved, 12)), to_hex(std::span(expected).subspan(bth, 12)));
  }
}

TEST_P(EncryptedFrame, ACorruptedBitFailsTheTag) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    Packet sent = packet(number);
    sent.damage = Damage::corrupted;
    sent.corrupt_bit = static_cast<std::uint32_t>(generator_.random().next());
    std::vector<std::byte> bytes;
    encode_packet(sent, config_, kTrimBytes, bytes);
    EXPECT_FALSE(opened(bytes, config_));
  }
}

TEST_P(EncryptedFrame, LengthsInItsHeadersAreThoseOfTheFrame) {
  std::vector<std::byte> bytes;
  encode_packet(packet(5), config_, kTrimBytes, bytes);
  const std::size_t inner = kEthernetHeaderBytes + encapsulation_bytes(config_.encapsulation);
  EXPECT_EQ(number_at(bytes, inner + 4, 2), bytes.size() - inner - kIpv6HeaderBytes);
  const bool esp = config_.encryption.framing == CryptoFraming::esp;
  EXPECT_EQ(number_at(bytes, inner + 6, 1), esp ? 50U : 17U);
  if (config_.encapsulation != Encapsulation::none) {
    EXPECT_EQ(number_at(bytes, kEthernetHeaderBytes + 4, 2), bytes.size() - kEthernetHeaderBytes - kIpv6HeaderBytes);
  }
  if (esp) return;
  const std::size_t udp = inner + kIpv6HeaderBytes;
  EXPECT_EQ(number_at(bytes, udp + 2, 2), kPspUdpPort);
  EXPECT_EQ(number_at(bytes, udp + 4, 2), bytes.size() - udp);
}

INSTANTIATE_TEST_SUITE_P(
    Of, EncryptedFrame,
    ::testing::Combine(::testing::Values(CryptoFraming::psp, CryptoFraming::psp_cookie, CryptoFraming::esp),
                       ::testing::Values(Encapsulation::none, Encapsulation::srv6, Encapsulation::srv6_srh),
                       ::testing::Values(Opcode::write_middle, Opcode::write_only_imm, Opcode::sack,
                                         Opcode::endpoint_request)));

TEST(Spi, IsTheReceiversQpOrTheSender) {
  Packet packet;
  packet.destination_qp = 17;
  packet.source_node = 3;
  EXPECT_EQ(spi_of(packet, AssociationScope::qp), 17U);
  EXPECT_EQ(spi_of(packet, AssociationScope::peer), 0x4000'0003U);
  packet.opcode = Opcode::endpoint_request;
  EXPECT_EQ(spi_of(packet, AssociationScope::qp), 0x4000'0003U);
}

}  // namespace
}  // namespace mrc::wire
