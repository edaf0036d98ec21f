// The boxes of a NIC in the order of its picture, as each declares which box it is behind.
#pragma once

#include <vector>

#include "engine/box.h"

namespace mrc {

/// All boxes that are children of `module`. Throws std::logic_error where one has no place, two have the same, or a
/// place is behind a box that there is not.
std::vector<Box*> boxes_in_picture(const sc_core::sc_module& module);

}  // namespace mrc
