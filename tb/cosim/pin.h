// Sets a pin of a Verilated model, whose type follows the port's width.
#pragma once

#include <cstdint>

namespace mrc {

template <typename Pin>
void put(Pin& pin, std::uint64_t value) {
  pin = static_cast<Pin>(value);
}

}  // namespace mrc
