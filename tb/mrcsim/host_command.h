// `mrcsim host`: programs as they are on disk run on the modeled NICs, in simulated time.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace mrc {

/// The words behind the first `--`, which are programs and not for the parser; they are gone from `arguments`.
std::vector<std::string> take_programs(std::vector<std::string>& arguments);
/// Adds the subcommand; when it is given, `programs` are run, with `--` between them, and `exit_code` is what the run
/// ended with. Both outlive `app`.
void add_host_command(CLI::App& app, const std::vector<std::string>& programs, int& exit_code);

}  // namespace mrc
