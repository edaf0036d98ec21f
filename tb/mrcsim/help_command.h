// `mrcsim help`: what --help prints, and the whole command line as a man page or a completion script.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mrc {

void add_help_command(CLI::App& app);

/// The arguments that mean the same: "help trace info" is "trace info --help". Throws std::invalid_argument for a
/// command that is unknown.
std::vector<std::string> with_help_last(const CLI::App& app, std::vector<std::string> arguments);

}  // namespace mrc
