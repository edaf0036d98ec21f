// `mrcsim fabric`: the network of a scenario as numbers, and its static tables.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

/// `exit_code` is 1 after a run that found a path which does not arrive.
void add_fabric_command(CLI::App& app, int& exit_code);

}  // namespace mrc
