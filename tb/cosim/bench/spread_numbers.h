// Numbers for slots of a block at any size.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mrc/random.h"

namespace mrc::cosim {

/// The numbers below a power of two in an order in which the first few differ from each other in single bits, of any
/// place: a block that loses a bit of an address takes two of them for one.
class SpreadNumbers {
 public:
  SpreadNumbers() = default;
  SpreadNumbers(std::uint32_t count, KeyedRandom random)
      : first_(static_cast<std::uint32_t>(random.below(count))),
        places_(static_cast<std::size_t>(std::countr_zero(count))) {
    std::iota(places_.begin(), places_.end(), 0U);
    for (std::size_t left = places_.size(); left > 1; --left) std::swap(places_[left - 1], places_[random.below(left)]);
  }

  std::uint32_t operator[](std::uint64_t index) const {
    std::uint32_t number = first_;
    for (std::size_t bit = 0; bit < places_.size(); ++bit)
      number ^= static_cast<std::uint32_t>(index >> bit & 1) << places_[bit];
    return number;
  }

 private:
  std::uint32_t first_ = 0;
  std::vector<std::uint32_t> places_;  ///< of the bits of an index
};

}  // namespace mrc::cosim
