// `mrcsim params`: every parameter with type, range, default, meaning and source.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_params_command(CLI::App& app);

}  // namespace mrc
