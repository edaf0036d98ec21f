// CRC-32 and ICRC against zlib; a RoCEv2 RDMA WRITE whose masked fields were set by hand.
#include "mrc/wire/icrc.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <set>
#include <vector>

#include "hex.h"
#include "mrc/random.h"

namespace mrc::wire {
namespace {

std::uint32_t zlib_crc(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

TEST(Crc32, CheckValue) {
  Crc32 crc;
  crc.add(from_hex("313233343536373839"));
  EXPECT_EQ(crc.value(), 0xCBF4'3926);
}

TEST(Crc32, EveryLengthAsZlib) {
  KeyedRandom random(1, "crc");
  std::vector<std::byte> bytes;
  for (std::size_t length = 0; length < 1'200; ++length) {
    Crc32 crc;
    crc.add(bytes);
    ASSERT_EQ(crc.value(), zlib_crc(bytes)) << length;
    bytes.push_back(static_cast<std::byte>(random.next()));
  }
}

TEST(Crc32, InPieces) {
  KeyedRandom random(2, "crc");
  std::vector<std::byte> bytes(4096);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  for (int round = 0; round < 200; ++round) {
    Crc32 crc;
    std::span<const std::byte> rest = bytes;
    while (!rest.empty()) {
      const std::size_t piece = std::min<std::size_t>(random.below(round % 2 == 0 ? 40 : 400), rest.size());
      crc.add(rest.first(piece));
      rest = rest.subspan(piece);
    }
    ASSERT_EQ(crc.value(), zlib_crc(bytes));
  }
}

/// RC RDMA WRITE ONLY, opcode 0x0A, QP 0x11, PSN 0x123456, 24 B behind BTH.
constexpr std::string_view kBth = "0A 00 FFFF 00 000011 80 123456";
constexpr std::string_view kMaskedBth = "0A 00 FFFF FF 000011 80 123456";
constexpr std::string_view kBody = "01080F161D242B323940474E555C636A71787F868D949BA2";
constexpr std::string_view kIpv6Addresses = "FD000000000000000000000000000001 FD000000000000000000000000000002";

std::vector<std::byte> join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return from_hex(text);
}

TEST(Icrc, RoceOverIpv6) {
  const auto packet = join({"66A12345 0030 11 40", kIpv6Addresses, "C000 12B7 0030 0000", kBth, kBody});
  const auto masked =
      join({"FFFFFFFFFFFFFFFF", "6FFFFFFF 0030 11 FF", kIpv6Addresses, "C000 12B7 0030 FFFF", kMaskedBth, kBody});
  EXPECT_EQ(icrc(packet, false), zlib_crc(masked));
  EXPECT_EQ(icrc(packet, false), 0x752C'D0C5);
}

TEST(Icrc, RoceOverIpv4) {
  const auto packet = join({"45 6A 0044 1234 4000 40 11 1409 0A000001 0A000002", "C000 12B7 0030 0000", kBth, kBody});
  const auto masked = join({"FFFFFFFFFFFFFFFF", "45 FF 0044 1234 4000 FF 11 FFFF 0A000001 0A000002",
                            "C000 12B7 0030 FFFF", kMaskedBth, kBody});
  EXPECT_EQ(icrc(packet, true), zlib_crc(masked));
  EXPECT_EQ(icrc(packet, true), 0xE631'F052);
}

void expect_masked(const std::vector<std::byte>& packet, bool ipv4, const std::set<std::size_t>& masked_bits) {
  const std::uint32_t unchanged = icrc(packet, ipv4);
  for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
    auto changed = packet;
    changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
    EXPECT_EQ(icrc(changed, ipv4) == unchanged, masked_bits.contains(bit)) << "bit " << bit;
  }
}

std::set<std::size_t> bits(std::initializer_list<std::pair<std::size_t, std::size_t>> ranges) {
  std::set<std::size_t> out;
  for (const auto& [first, count] : ranges) {
    for (std::size_t i = 0; i < count; ++i) out.insert(first + i);
  }
  return out;
}

TEST(Icrc, CoversEverythingButWhatMayChangeOnTheWay) {
  const auto over_ipv6 = join({"66A12345 0030 11 40", kIpv6Addresses, "C000 12B7 0030 0000", kBth, kBody});
  expect_masked(over_ipv6, false, bits({{4, 28}, {7 * 8, 8}, {(40 + 6) * 8, 16}, {(48 + 4) * 8, 8}}));
  const auto over_ipv4 =
      join({"45 6A 0044 1234 4000 40 11 1409 0A000001 0A000002", "C000 12B7 0030 0000", kBth, kBody});
  expect_masked(over_ipv4, true, bits({{8, 8}, {8 * 8, 8}, {10 * 8, 16}, {(20 + 6) * 8, 16}, {(28 + 4) * 8, 8}}));
}

}  // namespace
}  // namespace mrc::wire
