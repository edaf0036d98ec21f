// operator new with a counter, for who links counted_heap.cpp.
#pragma once

#include <cstdint>

namespace mrc {

/// Allocations of this process so far.
std::uint64_t heap_allocations();

}  // namespace mrc
