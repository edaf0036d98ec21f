// The command line of mrcsim with a count of all heap allocations of the process, printed behind the summary. Two runs
// that differ in length only give the allocations of a packet: building the model falls out of the difference.
#include <cstdlib>
#include <systemc>

#include <fmt/format.h>

#include "bench/counted_heap.h"
#include "mrcsim/command_line.h"

int sc_main(int argc, char** argv) {
  const int exit_code = mrc::run_command_line(argc, argv);
  fmt::print("  {:<10} {}\n", "heap", mrc::heap_allocations());
  return exit_code;
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  return sc_core::sc_elab_and_sim(argc, argv);
}
