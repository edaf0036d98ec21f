// Where the process begins: the SystemC kernel, then the command line.
#include <csignal>
#include <cstdlib>
#include <systemc>

#include "mrcsim/command_line.h"

int sc_main(int argc, char** argv) {
  return mrc::run_command_line(argc, argv);
}

int main(int argc, char** argv) {
  // The kernel prints its licence at the start of every run unless told otherwise.
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  // A write beyond a limit on file sizes then fails like one on a full disk, and who writes says so.
  std::signal(SIGXFSZ, SIG_IGN);
  return sc_core::sc_elab_and_sim(argc, argv);
}
