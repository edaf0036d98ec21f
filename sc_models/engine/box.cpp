#include "engine/box.h"

namespace mrc {

Box::Box(const sc_core::sc_module_name& name, WheelModule& owner, BoxPlace place)
    : sc_module(name), owner_(owner), position_(owner.add(*this)), place_(std::move(place)) {}

void Box::adopt(IssueSlot& slot, Box& other) {
  std::erase(other.slots_, &slot);
  slots_.push_back(&slot);
}

}  // namespace mrc
