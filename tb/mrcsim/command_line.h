// The command line as a function.
#pragma once

namespace mrc {

/// Parses the arguments, runs the subcommand, prints one clear line for bad input; returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace mrc
