// `mrcsim host`: programs as they are on disk run on the modeled NICs, in simulated time.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

/// Adds the subcommand; when it is given, `exit_code` is what the run ended with.
void add_host_command(CLI::App& app, int& exit_code);

}  // namespace mrc
