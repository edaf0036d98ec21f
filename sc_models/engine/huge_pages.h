// Memory in huge pages, where the kernel gives them on request. Without effect where it gives them without being asked,
// or never, and with a C library other than glibc.
#pragma once

#include <cstddef>

namespace mrc {

/// Of x86-64, and of other processors with pages of 4 KiB.
inline constexpr std::size_t kHugePageBytes = 2 << 20;

/// For what is allocated from now on, up to `bytes`, which are reserved. Only what is used takes memory. Not to be
/// called beside other threads. Later calls in a process that ask for no more do nothing.
void grow_heap_in_huge_pages(std::size_t bytes);

/// For memory that nobody has written yet, and of which most will be. Nothing where it is smaller than a huge page.
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace mrc
