// secded at several widths: its code words, and what the decoder says for all flips of one and of two bits.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "Vsecded_variants.h"
#include "mrc/random.h"

namespace mrc {
namespace {

constexpr std::array<std::uint32_t, 10> kWidths{1, 2, 4, 5, 11, 12, 26, 57, 64, 120};  // as in secded_variants.sv
constexpr std::uint32_t kMostCode = 128;
constexpr std::uint32_t kWords = kMostCode / 32;
using Bits = std::array<std::uint32_t, kWords>;

/// Check bits by the definition: the smallest r with 2^r >= d + r + 1, and the parity of all.
std::uint32_t check_bits(std::uint32_t data_bits) {
  std::uint32_t hamming = 1;
  while ((1ULL << hamming) < std::uint64_t{data_bits} + hamming + 1) ++hamming;
  return hamming + 1;
}

class Coders {
 public:
  Coders() { invert_none(); }

  void encode(const Bits& data) {
    for (std::uint32_t i = 0; i < kWords; ++i) rtl_.data_i[i] = data[i];
    rtl_.data_i[kWords - 1] &= 0xFF'FFFF;  // 120 bits
    rtl_.eval();
  }
  void invert_none() {
    for (std::uint32_t i = 0; i < kWords; ++i) rtl_.flip_i[i] = 0;
    rtl_.eval();
  }
  void invert(std::uint32_t place) {
    rtl_.flip_i[place / 32] ^= 1U << (place % 32);
    rtl_.eval();
  }

  /// Bit v: variant v decodes the data that were encoded, …
  std::uint32_t same() const { return rtl_.same_o; }
  std::uint32_t corrected() const { return rtl_.corrected_o; }
  std::uint32_t uncorrectable() const { return rtl_.uncorrectable_o; }
  std::uint32_t code_width(std::uint32_t variant) const { return rtl_.code_width_o[variant]; }
  bool code_bit(std::uint32_t variant, std::uint32_t place) const {
    return (rtl_.code_o[variant][place / 32] >> (place % 32) & 1U) != 0;
  }

 private:
  VerilatedContext context_;
  Vsecded_variants rtl_{&context_};
};

/// The variants whose code words have this place, bit by bit.
std::uint32_t variants_with(std::uint32_t place) {
  std::uint32_t variants = 0;
  for (std::uint32_t v = 0; v < kWidths.size(); ++v)
    variants |= place < kWidths[v] + check_bits(kWidths[v]) ? 1U << v : 0;
  return variants;
}
const std::uint32_t kAllVariants = variants_with(0);

Bits random_data(KeyedRandom& random) {
  Bits data{};
  for (std::uint32_t& word : data) word = static_cast<std::uint32_t>(random.next());
  return data;
}

/// All flips of one and of two bits of the code words of `data`.
void expect_all_flips_are_found(Coders& coders, const Bits& data) {
  coders.encode(data);
  ASSERT_EQ(coders.same(), kAllVariants);
  ASSERT_EQ(coders.corrected() | coders.uncorrectable(), 0U);
  for (std::uint32_t first = 0; first < kMostCode; ++first) {
    coders.invert(first);
    ASSERT_EQ(coders.same(), kAllVariants) << "place " << first;
    ASSERT_EQ(coders.corrected(), variants_with(first)) << "place " << first;
    ASSERT_EQ(coders.uncorrectable(), 0U) << "place " << first;
    for (std::uint32_t second = first + 1; second < kMostCode; ++second) {
      coders.invert(second);
      // Of a pair, a narrow word may have only the first.
      ASSERT_EQ(coders.corrected(), variants_with(first) & ~variants_with(second)) << first << " and " << second;
      ASSERT_EQ(coders.uncorrectable(), variants_with(second)) << first << " and " << second;
      coders.invert(second);
    }
    coders.invert(first);
  }
}

TEST(SecdedRtl, AllFlipsOfOneAndTwoBitsAreFound) {
  Coders coders;
  KeyedRandom random(1, "secded");
  expect_all_flips_are_found(coders, {});
  expect_all_flips_are_found(coders, {~0U, ~0U, ~0U, ~0U});
  for (int i = 0; i < 6; ++i) expect_all_flips_are_found(coders, random_data(random));
}

TEST(SecdedRtl, AllWordsOfElevenBits) {
  Coders coders;
  for (std::uint32_t data = 0; data < 2'048; ++data) {
    coders.encode({data, 0, 0, 0});
    ASSERT_EQ(coders.same(), kAllVariants) << data;
    ASSERT_EQ(coders.corrected() | coders.uncorrectable(), 0U) << data;
    for (std::uint32_t place = 0; place < 16; ++place) {
      coders.invert(place);
      ASSERT_EQ(coders.same(), kAllVariants) << data << ", place " << place;
      ASSERT_EQ(coders.corrected(), variants_with(place)) << data << ", place " << place;
      coders.invert(place);
    }
  }
}

TEST(SecdedRtl, ThreeFlipsThatLeadOutOfTheCodeWordAreNotCorrected) {
  Coders coders;
  constexpr std::uint32_t v = 8;  // 64 bits: places 0 to 71
  for (const std::uint32_t place : {16U, 32U, 64U}) coders.invert(place);
  EXPECT_EQ(coders.corrected() >> v & 1U, 0U);
  EXPECT_EQ(coders.uncorrectable() >> v & 1U, 1U);
}

TEST(SecdedRtl, NoMoreCheckBitsThanNeeded) {
  Coders coders;
  for (std::uint32_t v = 0; v < kWidths.size(); ++v)
    EXPECT_EQ(coders.code_width(v), kWidths[v] + check_bits(kWidths[v]));
}

TEST(SecdedRtl, CodeWordsAreThoseOfTheDefinition) {
  Coders coders;
  KeyedRandom random(2, "secded");
  for (int i = 0; i < 1'000; ++i) {
    coders.encode(random_data(random));
    for (std::uint32_t v = 0; v < kWidths.size(); ++v) {
      std::uint32_t places = 0;
      std::uint32_t parity = 0;
      for (std::uint32_t place = 0; place < coders.code_width(v); ++place) {
        if (!coders.code_bit(v, place)) continue;
        places ^= place;
        parity ^= 1;
      }
      ASSERT_EQ(places, 0U) << "width " << kWidths[v];
      ASSERT_EQ(parity, 0U) << "width " << kWidths[v];
    }
  }
}

}  // namespace
}  // namespace mrc
