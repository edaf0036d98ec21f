// Prefetches memory. The state of thousands of nodes and ports does not fit into the caches of a core, and the lines
// that an event needs are known some events ahead: several lines are then fetched in parallel instead of one after the
// other. Affects only the run time.
#pragma once

#include <cstddef>

namespace mrc {

inline constexpr std::size_t kCacheLineBytes = 64;

/// All lines that `bytes` from `first` on begin in, if `first` begins a line; any address is allowed.
inline void prefetch(const void* first, std::size_t bytes = 1) {
  for (std::size_t offset = 0; offset < bytes; offset += kCacheLineBytes) {
    __builtin_prefetch(static_cast<const char*>(first) + offset);
  }
  // An effect that costs nothing: GCC takes a function that only prefetches for one without any, and leaves out its
  // calls.
  asm volatile("");
}

}  // namespace mrc
