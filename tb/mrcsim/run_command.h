// `mrcsim run`: one scenario, one result.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

/// Adds the subcommand; when it is given, `exit_code` is what the run ended with.
void add_run_command(CLI::App& app, int& exit_code);

}  // namespace mrc
