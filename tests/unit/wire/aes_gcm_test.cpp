// The cipher of captures against the vectors of its specification (McGrew and Viega, The Galois/Counter Mode of
// Operation, cases 1 to 4 of AES-128).
#include "mrc/wire/aes_gcm.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace mrc::wire {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

template <std::size_t size>
std::array<std::uint8_t, size> array_of(std::string_view hex) {
  std::array<std::uint8_t, size> array{};
  const std::vector<std::byte> bytes = bytes_of(hex);
  for (std::size_t i = 0; i < size; ++i) array[i] = std::to_integer<std::uint8_t>(bytes[i]);
  return array;
}

std::string hex_of(const auto& bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

struct Vector {
  std::string_view key;
  std::string_view nonce;
  std::string_view header;
  std::string_view plaintext;
  std::string_view ciphertext;
  std::string_view tag;
};

constexpr std::string_view kZeroKey = "00000000000000000000000000000000";
constexpr std::string_view kKey = "feffe9928665731c6d6a8f9467308308";
constexpr std::string_view kNonce = "cafebabefacedbaddecaf888";
constexpr std::string_view kText =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
    "ba637b391aafd255";
constexpr std::string_view kCipher =
    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac97"
    "3d58e091473f5985";

class AesGcmVectors : public ::testing::TestWithParam<Vector> {};

TEST_P(AesGcmVectors, EncryptAndDecrypt) {
  const Vector& v = GetParam();
  const AesGcm cipher(array_of<16>(v.key));
  const GcmNonce nonce = array_of<12>(v.nonce);
  const std::vector<std::byte> header = bytes_of(v.header);
  std::vector<std::byte> data = bytes_of(v.plaintext);
  const AesBlock tag = cipher.encrypt(nonce, header, data);
  EXPECT_EQ(hex_of(data), v.ciphertext);
  EXPECT_EQ(hex_of(tag), v.tag);
  EXPECT_TRUE(cipher.decrypt(nonce, header, data, tag));
  EXPECT_EQ(hex_of(data), v.plaintext);
}

INSTANTIATE_TEST_SUITE_P(
    Of, AesGcmVectors,
    ::testing::Values(Vector{kZeroKey, "000000000000000000000000", "", "", "", "58e2fccefa7e3061367f1d57a4e7455a"},
                      Vector{kZeroKey, "000000000000000000000000", "", kZeroKey, "0388dace60b6a392f328c2b971b2fe78",
                             "ab6e47d42cec13bdf53a67b21257bddf"},
                      Vector{kKey, kNonce, "", kText, kCipher, "4d5c2af327cd64a62cf35abd2ba6fab4"},
                      Vector{kKey, kNonce, "feedfacedeadbeeffeedfacedeadbeefabaddad2", kText.substr(0, 120),
                             kCipher.substr(0, 120), "5bc94fbc3221a5db94fae95ae7121a47"}));

TEST(AesGcm, OneWrongBitAnywhereFailsTheTag) {
  const AesGcm cipher(array_of<16>(kKey));
  const GcmNonce nonce = array_of<12>(kNonce);
  const std::vector<std::byte> header = bytes_of("feedface");
  std::vector<std::byte> data = bytes_of(kText);
  AesBlock tag = cipher.encrypt(nonce, header, data);
  for (std::size_t at = 0; at < data.size(); ++at) {
    std::vector<std::byte> wrong = data;
    wrong[at] ^= std::byte{0x10};
    const std::vector<std::byte> before = wrong;
    EXPECT_FALSE(cipher.decrypt(nonce, header, wrong, tag));
    EXPECT_EQ(wrong, before);
  }
  EXPECT_FALSE(cipher.decrypt(nonce, bytes_of("feedfacf"), data, tag));
  tag[3] ^= 1;
  EXPECT_FALSE(cipher.decrypt(nonce, header, data, tag));
}

}  // namespace
}  // namespace mrc::wire
