// AES-128 in Galois/Counter Mode (FIPS 197, NIST SP 800-38D) for the bytes of captured packets. Neither fast nor safe
// against timing: it makes captures that other tools can decrypt, and protects nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mrc::wire {

using AesBlock = std::array<std::uint8_t, 16>;
using GcmNonce = std::array<std::uint8_t, 12>;

namespace detail {

/// Product in the field of AES, modulo x^8 + x^4 + x^3 + x + 1.
constexpr std::uint8_t aes_product(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  unsigned left = a;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= left;
    left = left << 1 ^ ((left & 0x80) != 0 ? 0x11B : 0);
  }
  return static_cast<std::uint8_t>(product);
}

/// The inverse of each byte, then the affine transformation of FIPS 197, 5.1.1.
constexpr std::array<std::uint8_t, 256> make_aes_sbox() {
  std::array<std::uint8_t, 256> sbox{};
  for (unsigned value = 0; value < 256; ++value) {
    const auto byte = static_cast<std::uint8_t>(value);
    std::uint8_t inverse = 1;
    for (unsigned power = 0; power < 254; ++power) inverse = aes_product(inverse, byte);
    const unsigned twice = inverse | inverse << 8;
    const unsigned turned = inverse ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7;
    sbox[value] = static_cast<std::uint8_t>((turned ^ 0x63) & 0xFF);
  }
  return sbox;
}
inline const std::array<std::uint8_t, 256> kAesSbox = make_aes_sbox();

}  // namespace detail

class Aes128 {
 public:
  explicit Aes128(const AesBlock& key) {
    round_keys_[0] = key;
    std::uint8_t constant = 1;
    for (std::size_t round = 1; round < round_keys_.size(); ++round) {
      const AesBlock& before = round_keys_[round - 1];
      AesBlock& next = round_keys_[round];
      for (std::size_t i = 0; i < 4; ++i) next[i] = before[i] ^ detail::kAesSbox[before[12 + (i + 1) % 4]];
      next[0] ^= constant;
      for (std::size_t i = 4; i < 16; ++i) next[i] = before[i] ^ next[i - 4];
      constant = detail::aes_product(constant, 2);
    }
  }

  AesBlock encrypt(AesBlock state) const {
    add(state, round_keys_[0]);
    for (std::size_t round = 1; round < round_keys_.size(); ++round) {
      AesBlock moved;
      for (std::size_t i = 0; i < 16; ++i) moved[i] = detail::kAesSbox[state[(i + 4 * (i % 4)) % 16]];
      state = round + 1 < round_keys_.size() ? mixed(moved) : moved;
      add(state, round_keys_[round]);
    }
    return state;
  }

 private:
  static void add(AesBlock& state, const AesBlock& key) {
    for (std::size_t i = 0; i < 16; ++i) state[i] ^= key[i];
  }
  static AesBlock mixed(const AesBlock& in) {
    AesBlock out;
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t column = i / 4 * 4;
      const auto at = [&](std::size_t row) { return in[column + (i + row) % 4]; };
      out[i] = detail::aes_product(at(0), 2) ^ detail::aes_product(at(1), 3) ^ at(2) ^ at(3);
    }
    return out;
  }

  std::array<AesBlock, 11> round_keys_{};
};

class AesGcm {
 public:
  explicit AesGcm(const AesBlock& key) : cipher_(key), hash_key_(cipher_.encrypt({})) {}

  /// Encrypts `data` in place, and gives the tag over it and `header`, which stays in the clear.
  AesBlock encrypt(const GcmNonce& nonce, std::span<const std::byte> header, std::span<std::byte> data) const {
    crypt(nonce, data);
    return tag(nonce, header, data);
  }
  /// Decrypts `data` in place. False: the tag is wrong, and the data is what it was.
  bool decrypt(const GcmNonce& nonce, std::span<const std::byte> header, std::span<std::byte> data,
               const AesBlock& expected) const {
    if (tag(nonce, header, data) != expected) return false;
    crypt(nonce, data);
    return true;
  }

 private:
  static AesBlock counter_block(const GcmNonce& nonce, std::uint32_t counter) {
    AesBlock block{};
    std::copy(nonce.begin(), nonce.end(), block.begin());
    for (std::size_t i = 0; i < 4; ++i) block[12 + i] = static_cast<std::uint8_t>(counter >> (24 - 8 * i));
    return block;
  }
  void crypt(const GcmNonce& nonce, std::span<std::byte> data) const {
    std::uint32_t counter = 2;
    for (std::size_t at = 0; at < data.size(); at += 16, ++counter) {
      const AesBlock key = cipher_.encrypt(counter_block(nonce, counter));
      for (std::size_t i = 0; i < std::min<std::size_t>(16, data.size() - at); ++i) data[at + i] ^= std::byte{key[i]};
    }
  }
  AesBlock tag(const GcmNonce& nonce, std::span<const std::byte> header, std::span<const std::byte> data) const {
    AesBlock sum{};
    hash(sum, header);
    hash(sum, data);
    AesBlock lengths{};
    for (std::size_t i = 0; i < 8; ++i) {
      lengths[i] = static_cast<std::uint8_t>(std::uint64_t{header.size()} * 8 >> (56 - 8 * i));
      lengths[8 + i] = static_cast<std::uint8_t>(std::uint64_t{data.size()} * 8 >> (56 - 8 * i));
    }
    for (std::size_t i = 0; i < 16; ++i) sum[i] ^= lengths[i];
    sum = product(sum);
    const AesBlock mask = cipher_.encrypt(counter_block(nonce, 1));
    for (std::size_t i = 0; i < 16; ++i) sum[i] ^= mask[i];
    return sum;
  }
  void hash(AesBlock& sum, std::span<const std::byte> bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += 16) {
      for (std::size_t i = 0; i < std::min<std::size_t>(16, bytes.size() - at); ++i) {
        sum[i] ^= std::to_integer<std::uint8_t>(bytes[at + i]);
      }
      sum = product(sum);
    }
  }
  /// `x` times the hash key in the field of GHASH, whose bits are counted from the left.
  AesBlock product(const AesBlock& x) const {
    AesBlock sum{};
    AesBlock v = hash_key_;
    for (std::size_t bit = 0; bit < 128; ++bit) {
      if ((x[bit / 8] >> (7 - bit % 8) & 1) != 0) {
        for (std::size_t i = 0; i < 16; ++i) sum[i] ^= v[i];
      }
      const bool carry = (v[15] & 1) != 0;
      for (std::size_t i = 15; i > 0; --i) v[i] = static_cast<std::uint8_t>(v[i] >> 1 | v[i - 1] << 7);
      v[0] = static_cast<std::uint8_t>(v[0] >> 1 ^ (carry ? 0xE1 : 0));
    }
    return sum;
  }

  Aes128 cipher_;
  AesBlock hash_key_;
};

}  // namespace mrc::wire
