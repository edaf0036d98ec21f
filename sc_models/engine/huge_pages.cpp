#include "engine/huge_pages.h"

#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace mrc {

void grow_heap_in_huge_pages() {
#if defined(__linux__) && defined(__GLIBC__)
  static bool done = false;
  if (done) return;
  done = true;
  // What glibc comes to by itself when large blocks were freed: all but the largest come from the heap.
  constexpr int kLargestHeapBlockBytes = 32 << 20;
  constexpr int kGrowthBytes = 1 << 30;
  constexpr int kUsualGrowthBytes = 128 << 10;  // glibc's own
  mallopt(M_MMAP_THRESHOLD, kLargestHeapBlockBytes);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, kGrowthBytes);
  // More than is free at the end of the heap, so that it grows; volatile, so that the block is not optimized away.
  void* volatile const block = std::malloc(kLargestHeapBlockBytes / 2);
  std::free(block);
  mallopt(M_TOP_PAD, kUsualGrowthBytes);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (block != nullptr && begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace mrc
