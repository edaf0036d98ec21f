// Header fields as bits in network order: writer and reader for the list of fields of a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "mrc/packet.h"

namespace mrc::wire {

/// Writes fields, most significant bit first, into `bytes`. Fields of more than 32 bits start at a byte.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> bytes) : bytes_(bytes) {}

  template <typename Value>
  constexpr void operator()(std::string_view, unsigned bits, const Value& value) {
    if constexpr (std::is_same_v<Value, Ipv6Address>) {
      put(64, value.high);
      put(64, value.low);
    } else {
      put(bits, static_cast<std::uint64_t>(value));
    }
  }

 private:
  constexpr void put(unsigned bits, std::uint64_t value) {
    if (bits > 32) {
      for (unsigned shift = bits; shift > 0; shift -= 8)
        bytes_[at_++] = static_cast<std::byte>(value >> (shift - 8) & 0xFF);
      return;
    }
    pending_ = pending_ << bits | (value & ((1ULL << bits) - 1));
    for (count_ += bits; count_ >= 8; count_ -= 8)
      bytes_[at_++] = static_cast<std::byte>(pending_ >> (count_ - 8) & 0xFF);
  }

  std::span<std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t pending_ = 0;
  unsigned count_ = 0;
};

/// Reads fields from `bytes`, which hold the whole header.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Value>
  constexpr void operator()(std::string_view, unsigned bits, Value& value) {
    if constexpr (std::is_same_v<Value, Ipv6Address>) {
      value.high = get(64);
      value.low = get(64);
    } else {
      value = static_cast<Value>(get(bits));
    }
  }

 private:
  constexpr std::uint64_t get(unsigned bits) {
    std::uint64_t value = 0;
    if (bits > 32) {
      for (unsigned i = 0; i < bits; i += 8) value = value << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
      return value;
    }
    for (; count_ < bits; count_ += 8) pending_ = pending_ << 8 | std::to_integer<std::uint64_t>(bytes_[at_++]);
    value = pending_ >> (count_ - bits) & ((1ULL << bits) - 1);
    count_ -= bits;
    return value;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t pending_ = 0;
  unsigned count_ = 0;
};

/// Sums the widths of a header's fields.
class BitCounter {
 public:
  template <typename Value>
  constexpr void operator()(std::string_view, unsigned bits, const Value&) {
    bits_ += bits;
  }
  constexpr std::size_t bytes() const { return bits_ / 8; }

 private:
  std::size_t bits_ = 0;
};

}  // namespace mrc::wire
