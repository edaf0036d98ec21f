// Where the process begins: the SystemC kernel, then the command line.
#include <csignal>
#include <cstdlib>
#include <new>
#include <systemc>

#include "engine/huge_pages.h"
#include "mrcsim/command_line.h"

// AddressSanitizer keeps its own, which tell arrays from other memory.
#if !defined(__SANITIZE_ADDRESS__)

namespace {

/// Null where there is not so much.
void* memory_of_array(std::size_t bytes) {
  if (bytes < mrc::kHugePageBytes) return std::malloc(bytes);
  const std::size_t whole_pages = bytes + -bytes % mrc::kHugePageBytes;
  if (whole_pages < bytes) return nullptr;
  void* const memory = std::aligned_alloc(mrc::kHugePageBytes, whole_pages);
  mrc::ask_for_huge_pages(memory, whole_pages);
  return memory;
}

}  // namespace

// Before main(), SystemC's library clears an array of 3 MiB: 768 pages of 4 KiB, for each of which the kernel is
// called. For such arrays it is asked for huge pages.
void* operator new[](std::size_t bytes) {
  void* const array = memory_of_array(bytes);
  if (array == nullptr) throw std::bad_alloc();
  return array;
}
void operator delete[](void* array) noexcept {
  std::free(array);
}
void operator delete[](void* array, std::size_t) noexcept {
  std::free(array);
}

#endif

int sc_main(int argc, char** argv) {
  return mrc::run_command_line(argc, argv);
}

int main(int argc, char** argv) {
  // More than a small run takes; a large model asks for more.
  mrc::grow_heap_in_huge_pages(std::size_t{64} << 20);
  // The kernel prints its licence at the start of every run unless told otherwise.
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  // A write beyond a limit on file sizes then fails like one on a full disk, and who writes says so.
  std::signal(SIGXFSZ, SIG_IGN);
  return sc_core::sc_elab_and_sim(argc, argv);
}
