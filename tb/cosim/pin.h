// Sets a pin of a Verilated model, whose type follows the port's width.
#pragma once

#include <cstdint>
#include <type_traits>

namespace mrc {

template <typename Pin>
void put(Pin& pin, std::uint64_t value) {
  pin = static_cast<Pin>(value);
}

/// One 32-bit word of a pin, which is a number where it has at most 64 bits.
template <typename Pin>
void put_word(Pin& pin, std::uint32_t word, std::uint32_t value) {
  if constexpr (std::is_integral_v<Pin>) {
    const unsigned shift = 32 * word;
    const std::uint64_t others = static_cast<std::uint64_t>(pin) & ~(0xFFFF'FFFFULL << shift);
    pin = static_cast<Pin>(others | std::uint64_t{value} << shift);
  } else {
    pin[word] = value;
  }
}

}  // namespace mrc
