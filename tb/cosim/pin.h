// Sets a pin of a Verilated model, whose type follows the width of the port.
#pragma once

#include <cstdint>

namespace mrc {

template <typename Pin>
void set_pin(Pin& pin, std::uint64_t value) {
  pin = static_cast<Pin>(value);
}

}  // namespace mrc
