// Expansion of a short EV to the path bits that a fabric reads: a list of fields, each with constant bits and bits from
// the EV (OCP API: EV object).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mrc {

/// The part of the packet that holds the path bits (OCP API).
enum class EvKind : std::uint8_t { ecmp, stev, srv6, srv6_srh };
/// Widest value of a kind, bits (OCP API).
constexpr std::uint32_t most_ev_bits(EvKind kind) {
  constexpr std::array<std::uint32_t, 4> bits{16, 32, 128, 256};
  return bits[static_cast<std::size_t>(kind)];
}

/// One field of a format (OCP API: width, init_val, set_mask).
struct EvField {
  std::uint32_t width_bits = 0;  ///< 1 … 64
  std::uint64_t init_value = 0;  ///< below 2^width_bits
  std::uint64_t set_mask = 0;    ///< below 2^width_bits; a set bit is taken from the EV in place of init_value's
};

struct EvFormat {
  EvKind kind = EvKind::ecmp;
  std::vector<EvField> fields;  ///< first field first on the wire

  std::uint32_t width_bits() const {
    std::uint32_t bits = 0;
    for (const EvField& field : fields) bits += field.width_bits;
    return bits;
  }
  /// Number of bits taken from an EV: the set bits of the masks.
  std::uint32_t chosen_bits() const {
    std::uint32_t bits = 0;
    for (const EvField& field : fields) bits += static_cast<std::uint32_t>(std::popcount(field.set_mask));
    return bits;
  }
};

/// Expanded path bits, first bit first: bytes 0-15 an SRv6 address, 16-31 an SRH segment (OCP API).
struct WideEv {
  static constexpr std::uint32_t kMostBits = 256;

  std::array<std::byte, kMostBits / 8> bytes{};
  std::uint32_t width_bits = 0;

  /// Adds the low `bits` of `value`, most significant first. Precondition: they fit.
  constexpr void append(std::uint64_t value, std::uint32_t bits) {
    for (std::uint32_t i = bits; i-- > 0; ++width_bits) {
      if ((value >> i & 1) != 0) bytes[width_bits / 8] |= std::byte{0x80} >> (width_bits % 8);
    }
  }
  /// The value as a number. Precondition: width_bits is at most 64.
  constexpr std::uint64_t number() const {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < width_bits; ++i) {
      value = value << 1 | std::to_integer<std::uint64_t>(bytes[i / 8] >> (7 - i % 8) & std::byte{1});
    }
    return value;
  }
  friend constexpr bool operator==(const WideEv&, const WideEv&) = default;
};

constexpr bool fits_in_bits(std::uint64_t value, std::uint32_t bits) {
  return bits >= 64 || value >> bits == 0;
}

/// Throws std::invalid_argument, naming the field, when `format` has no field, a width outside 1 … 64, an init_value or
/// set_mask wider than its field, more bits than its kind carries, or more than 64 bits for an EV to choose.
inline void check_ev_format(const EvFormat& format) {
  if (format.fields.empty()) throw std::invalid_argument("EV format has no field");
  for (std::size_t i = 0; i < format.fields.size(); ++i) {
    const EvField& field = format.fields[i];
    if (field.width_bits < 1 || field.width_bits > 64) {
      throw std::invalid_argument(fmt::format("EV field {}: width {} is outside 1 to 64 bits", i, field.width_bits));
    }
    if (!fits_in_bits(field.init_value | field.set_mask, field.width_bits)) {
      throw std::invalid_argument(fmt::format("EV field {}: value or mask has more than {} bits", i, field.width_bits));
    }
  }
  if (format.width_bits() > most_ev_bits(format.kind)) {
    throw std::invalid_argument(
        fmt::format("EV format takes {} bits, its kind carries {}", format.width_bits(), most_ev_bits(format.kind)));
  }
  if (format.chosen_bits() > 64) {
    throw std::invalid_argument(fmt::format("EV format chooses {} bits, 64 at most", format.chosen_bits()));
  }
}

/// The expansion rule: each field starts as init_value; for each set bit of its mask, most significant first, the next
/// bit of `ev`, most significant first. `ev` counts as a number of chosen_bits() bits (assumption). Precondition: a
/// checked format.
inline WideEv expand_ev(const EvFormat& format, std::uint64_t ev) {
  WideEv wide;
  std::uint32_t left = format.chosen_bits();
  for (const EvField& field : format.fields) {
    std::uint64_t value = field.init_value & ~field.set_mask;
    for (std::uint64_t mask = field.set_mask; mask != 0; mask &= ~std::bit_floor(mask)) {
      if ((ev >> --left & 1) != 0) value |= std::bit_floor(mask);
    }
    wide.append(value, field.width_bits);
  }
  return wide;
}

}  // namespace mrc
