// mrcsim cosim: one RTL block alone against its protocol reference.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_cosim_command(CLI::App& app, int& exit_code);

}  // namespace mrc
