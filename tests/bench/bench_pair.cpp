// The command line of mrcsim with a count of all heap allocations of the process, printed behind the summary. Two runs
// that differ in length only give the allocations of a packet: building the model falls out of the difference.
#include <atomic>
#include <cstdlib>
#include <new>
#include <systemc>

#include <fmt/format.h>

#include "mrcsim/command_line.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

int sc_main(int argc, char** argv) {
  const int exit_code = mrc::run_command_line(argc, argv);
  fmt::print("  {:<10} {}\n", "heap", allocations.load());
  return exit_code;
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
