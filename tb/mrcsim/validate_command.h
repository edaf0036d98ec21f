// `mrcsim validate`: runs published experiments and compares.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_validate_command(CLI::App& app, int& exit_code);

}  // namespace mrc
