#include "engine/box.h"

namespace mrc {

Box::Box(const sc_core::sc_module_name& name, WheelModule& owner)
    : sc_module(name), owner_(owner), position_(owner.add(*this)) {}

}  // namespace mrc
