// Random numbers keyed by (seed, object, sequence number of the object): they do not depend on the draws of other
// objects, so RTL swaps, MPI ranks and traffic of other nodes do not change them.
#pragma once

#include <cstdint>
#include <string_view>

namespace mrc {

/// Finalizer of splitmix64: a bijection on 64 bits with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
  return x ^ (x >> 31);
}

/// FNV-1a of an object's name, the usual `object` of KeyedRandom.
constexpr std::uint64_t name_key(std::string_view name) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3ULL;
  return hash;
}

/// The stream of draws of one object. Cheap to copy; two with the same key give the same numbers.
class KeyedRandom {
 public:
  constexpr KeyedRandom() = default;
  constexpr KeyedRandom(std::uint64_t seed, std::uint64_t object) : key_(mix64(seed ^ mix64(object))) {}
  constexpr KeyedRandom(std::uint64_t seed, std::string_view object) : KeyedRandom(seed, name_key(object)) {}

  /// Next 64 uniform bits.
  constexpr std::uint64_t next() { return mix64(key_ + 0xD1B5'4A32'D192'ED03ULL * sequence_++); }
  /// The stream without its next `draws` numbers.
  constexpr KeyedRandom after(std::uint64_t draws) const {
    KeyedRandom rest = *this;
    rest.sequence_ += draws;
    return rest;
  }
  /// Uniform in [0, 1), 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// True with probability `p`; p <= 0 never draws, so that a disabled fault has no cost and no effect.
  constexpr bool chance(double p) { return p > 0.0 && uniform() < p; }
  /// Uniform in [0, bound), bound 1 … 2^32 - 1; multiply-shift, bias below 2^-32 * bound.
  constexpr std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  std::uint64_t key_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace mrc
