// `mrcsim size`: the smallest buffer that meets an objective.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

/// Adds the subcommand; when it is given, `exit_code` is 0 if there is an answer, 3 if no value in the range meets the
/// objective.
void add_size_command(CLI::App& app, int& exit_code);

}  // namespace mrc
