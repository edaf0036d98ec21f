// CRC-32 of IEEE 802.3 (reflected polynomial 0x04C11DB7), as Ethernet's FCS and the ICRC use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#if defined(__x86_64__)
#include <wmmintrin.h>
#endif

namespace mrc::wire {

namespace detail {

/// Reflected: its highest power is the lowest bit.
inline constexpr std::uint32_t kCrcPolynomial = 0xEDB8'8320;
constexpr std::uint32_t crc_times_x(std::uint32_t crc) {
  return crc >> 1 ^ ((crc & 1) != 0 ? kCrcPolynomial : 0U);
}

/// Tables for eight bytes per step.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc_times_x(crc);
    tables[0][i] = crc;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xFF];
  }
  return tables;
}
inline constexpr auto kCrcTables = make_crc_tables();

/// The register `crc` after `bytes`.
constexpr std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
  const auto& t = kCrcTables;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
    const std::uint32_t low = crc ^ (byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24);
    crc = t[7][low & 0xFF] ^ t[6][low >> 8 & 0xFF] ^ t[5][low >> 16 & 0xFF] ^ t[4][low >> 24] ^ t[3][byte(4)] ^
          t[2][byte(5)] ^ t[1][byte(6)] ^ t[0][byte(7)];
  }
  for (const std::byte byte : bytes) crc = crc >> 8 ^ t[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return crc;
}

#if defined(__x86_64__)

/// x to the power of `exponent`, modulo the polynomial, where a carry-less product of reflected halves wants it: such a
/// product comes out multiplied by x.
constexpr std::uint64_t crc_power(std::uint32_t exponent) {
  std::uint32_t crc = 0x8000'0000;
  for (std::uint32_t i = 1; i < exponent; ++i) crc = crc_times_x(crc);
  return std::uint64_t{crc} << 32;
}
/// Moves 16 bytes to the front by `kBits`: the half that comes first by 64 more.
template <std::uint32_t kBits>
[[gnu::target("pclmul")]] inline __m128i crc_moved(__m128i bytes) {
  constexpr std::uint64_t first_half = crc_power(kBits + 64);
  constexpr std::uint64_t second_half = crc_power(kBits);
  const __m128i powers = _mm_set_epi64x(static_cast<long long>(second_half), static_cast<long long>(first_half));
  return _mm_xor_si128(_mm_clmulepi64_si128(bytes, powers, 0x00), _mm_clmulepi64_si128(bytes, powers, 0x11));
}
inline __m128i crc_load(const std::byte* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// As crc_of(), by carry-less products, as hardware folds wide words. At least 64 bytes, a multiple of 16.
[[gnu::target("pclmul")]] inline std::uint32_t crc_folded(std::uint32_t crc, std::span<const std::byte> bytes) {
  const std::byte* next = bytes.data();
  const std::byte* const end = next + bytes.size();
  __m128i a = _mm_xor_si128(crc_load(next), _mm_cvtsi32_si128(static_cast<int>(crc)));
  __m128i b = crc_load(next + 16);
  __m128i c = crc_load(next + 32);
  __m128i d = crc_load(next + 48);
  for (next += 64; end - next >= 64; next += 64) {
    a = _mm_xor_si128(crc_moved<512>(a), crc_load(next));
    b = _mm_xor_si128(crc_moved<512>(b), crc_load(next + 16));
    c = _mm_xor_si128(crc_moved<512>(c), crc_load(next + 32));
    d = _mm_xor_si128(crc_moved<512>(d), crc_load(next + 48));
  }
  a = _mm_xor_si128(crc_moved<128>(a), b);
  a = _mm_xor_si128(crc_moved<128>(a), c);
  a = _mm_xor_si128(crc_moved<128>(a), d);
  for (; next != end; next += 16) a = _mm_xor_si128(crc_moved<128>(a), crc_load(next));
  std::array<std::byte, 16> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), a);
  return crc_of(0, rest);
}
#endif

}  // namespace detail

/// A running CRC-32; value() may be called at any time.
class Crc32 {
 public:
  constexpr void add(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    if (!std::is_constant_evaluated() && bytes.size() >= 64 && __builtin_cpu_supports("pclmul") != 0) {
      const std::size_t whole = bytes.size() / 16 * 16;
      crc_ = detail::crc_folded(crc_, bytes.first(whole));
      bytes = bytes.subspan(whole);
    }
#endif
    crc_ = detail::crc_of(crc_, bytes);
  }
  constexpr std::uint32_t value() const {
    return ~crc_;
  }

 private:
  std::uint32_t crc_ = 0xFFFF'FFFF;
};

}  // namespace mrc::wire
