// ram_1r1w_banked in all its variants, cycle by cycle, against a model of its words.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

#include "Vram_variants.h"
#include "mrc/random.h"

namespace mrc {
namespace {

constexpr std::uint32_t kDepth = 48;
constexpr std::uint32_t kWidth = 21;
constexpr std::uint32_t kCodeWidth = 27;
constexpr std::uint32_t kLatencies = 3;
constexpr std::uint32_t kBankKinds = 3;
constexpr std::uint32_t kVariants = kLatencies * kBankKinds * 2;
constexpr std::uint32_t kDataMask = (1U << kWidth) - 1;

struct Word {
  std::uint32_t data = 0;
  std::uint32_t flip = 0;  ///< bits that were inverted when it was written
};

struct Cycle {
  bool write = false;
  std::uint32_t write_address = 0;
  Word word;
  bool read = false;
  std::uint32_t read_address = 0;
};

/// What was read last, for each latency.
class Model {
 public:
  void step(const Cycle& cycle) {
    if (cycle.write) words_.at(cycle.write_address) = cycle.word;
    for (std::uint32_t latency = kLatencies - 1; latency > 0; --latency) out_.at(latency) = out_.at(latency - 1);
    if (cycle.read) out_[0] = words_.at(cycle.read_address);
  }
  const Word& out(std::uint32_t latency) const { return out_.at(latency - 1); }

 private:
  std::array<Word, kDepth> words_{};
  std::array<Word, kLatencies> out_{};
};

class Variants {
 public:
  void step(const Cycle& cycle) {
    rtl_.we_i = cycle.write;
    rtl_.waddr_i = static_cast<std::uint8_t>(cycle.write_address);
    rtl_.wdata_i = cycle.word.data;
    rtl_.flip_i = cycle.word.flip;
    rtl_.re_i = cycle.read;
    rtl_.raddr_i = static_cast<std::uint8_t>(cycle.read_address);
    for (const bool level : {false, true}) {
      rtl_.clk_i = level;
      rtl_.eval();
    }
  }

  /// All variants give what the model says.
  ::testing::AssertionResult agree(const Model& model) const {
    for (std::uint32_t variant = 0; variant < kVariants; ++variant) {
      const std::uint32_t latency = variant / (kBankKinds * 2) + 1;
      const std::uint32_t banks = 1U << (variant / 2 % kBankKinds);
      if (variant % 2 == 0 ? plain(variant, model.out(latency)) : with_check_bits(variant, model.out(latency)))
        continue;
      return ::testing::AssertionFailure() << "latency " << latency << ", " << banks << " banks, Secded " << variant % 2
                                           << ": data " << rtl_.rdata_o[variant] << ", corrected " << corrected(variant)
                                           << ", uncorrectable " << uncorrectable(variant) << "; written "
                                           << model.out(latency).data << " with flips " << model.out(latency).flip;
    }
    return ::testing::AssertionSuccess();
  }

 private:
  bool corrected(std::uint32_t variant) const { return (rtl_.corrected_o >> variant & 1U) != 0; }
  bool uncorrectable(std::uint32_t variant) const { return (rtl_.uncorrectable_o >> variant & 1U) != 0; }

  bool plain(std::uint32_t variant, const Word& word) const {
    return rtl_.rdata_o[variant] == ((word.data ^ word.flip) & kDataMask) && !corrected(variant) &&
           !uncorrectable(variant);
  }
  bool with_check_bits(std::uint32_t variant, const Word& word) const {
    const int flips = std::popcount(word.flip);
    return corrected(variant) == (flips == 1) && uncorrectable(variant) == (flips == 2) &&
           (flips == 2 || rtl_.rdata_o[variant] == word.data);
  }

  VerilatedContext context_;
  Vram_variants rtl_{&context_};
};

/// No flip, one, or two different ones.
std::uint32_t random_flip(KeyedRandom& random, double probability) {
  if (!random.chance(probability)) return 0;
  const std::uint32_t first = 1U << random.below(kCodeWidth);
  return random.chance(0.5) ? first : first | 1U << random.below(kCodeWidth);
}

struct Traffic {
  double write = 0;
  double read = 0;
  std::uint32_t addresses = kDepth;  ///< few of them: reads meet writes
  double flip = 0;
};

Cycle random_cycle(KeyedRandom& random, const Traffic& traffic) {
  Cycle cycle;
  cycle.write = random.chance(traffic.write);
  cycle.read = random.chance(traffic.read);
  cycle.write_address = static_cast<std::uint32_t>(random.below(traffic.addresses));
  cycle.read_address = static_cast<std::uint32_t>(random.below(traffic.addresses));
  cycle.word = {static_cast<std::uint32_t>(random.next()) & kDataMask, random_flip(random, traffic.flip)};
  return cycle;
}

void compare(const Traffic& traffic, std::uint32_t cycles) {
  Variants variants;
  Model model;
  KeyedRandom random(1, "ram_1r1w_banked");
  const auto step = [&](const Cycle& cycle) {
    variants.step(cycle);
    model.step(cycle);
  };
  for (std::uint32_t address = 0; address < kDepth; ++address) {
    step({.write = true, .write_address = address, .word = {address, 0}, .read = true, .read_address = address});
  }
  for (std::uint32_t cycle = 0; cycle < cycles; ++cycle) {
    step(random_cycle(random, traffic));
    ASSERT_TRUE(variants.agree(model)) << "cycle " << cycle;
  }
}

constexpr std::uint32_t kCycles = 100'000;

TEST(Ram1r1wBanked, EachVariantGivesTheWordsOfItsModel) {
  compare({.write = 0.5, .read = 0.6}, kCycles);
}
TEST(Ram1r1wBanked, ReadsThatMeetWritesOfTheSameAddress) {
  compare({.write = 0.8, .read = 0.8, .addresses = 5}, kCycles);
}
TEST(Ram1r1wBanked, AReadPerCycle) {
  compare({.write = 0.3, .read = 1}, kCycles);
}
TEST(Ram1r1wBanked, FlippedBitsAreCorrectedOrReported) {
  compare({.write = 0.5, .read = 0.6, .flip = 0.5}, kCycles);
}

}  // namespace
}  // namespace mrc
