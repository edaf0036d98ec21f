#include "engine/huge_pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace mrc {

void ask_for_huge_pages(void* memory, std::size_t bytes) {
  if (memory == nullptr || bytes < kHugePageBytes) return;
#if defined(__linux__)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (address + page - 1) & ~(page - 1);
  const std::uintptr_t end = (address + bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

#if defined(__linux__) && defined(__GLIBC__)

void grow_heap_in_huge_pages(std::size_t bytes) {
  static std::size_t grown_by = 0;
  if (bytes <= grown_by) return;
  grown_by = bytes;
  constexpr std::size_t kLargestHeapBlockBytes = 32 << 20;  // that glibc allows
  constexpr std::size_t kSharesOfHeap = 32;                 // a block of more than one is mapped by itself
  constexpr int kUsualGrowthBytes = 128 << 10;              // glibc's own
  constexpr int kUsualMappings = 65'536;                    // likewise
  constexpr std::size_t kMostBytesOfOption = std::numeric_limits<int>::max();
  // All but the largest blocks come from the heap, as glibc comes to by itself when large ones were freed.
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(std::min(bytes / kSharesOfHeap, kLargestHeapBlockBytes)));
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, static_cast<int>(std::min(bytes, kMostBytesOfOption)));
  mallopt(M_MMAP_MAX, 0);
  // More than is free at the end, so that it grows; volatile, so that the block is not optimized away.
  void* volatile const block = std::malloc(mallinfo2().keepcost + kUsualGrowthBytes);
  std::free(block);
  mallopt(M_MMAP_MAX, kUsualMappings);
  mallopt(M_TOP_PAD, kUsualGrowthBytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  // Where the system refuses so much, the block comes from elsewhere, or there is none.
  if (block == nullptr || begin >= end) return;
  ask_for_huge_pages(block, end - begin);
  // What lies before the first huge page would come in small ones: it is never used. Volatile, so that it is allocated.
  [[maybe_unused]] static void* volatile unused = nullptr;
  if (unused == nullptr) unused = std::malloc(-begin % kHugePageBytes);
}

#else

void grow_heap_in_huge_pages(std::size_t) {}

#endif

}  // namespace mrc
