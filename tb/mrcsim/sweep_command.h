// `mrcsim sweep`: a scenario at many points of its parameters.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

/// Adds the subcommand; when it is given, `exit_code` is that of the first run without a complete result.
void add_sweep_command(CLI::App& app, int& exit_code);

}  // namespace mrc
