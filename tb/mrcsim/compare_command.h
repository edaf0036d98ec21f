// `mrcsim compare`: results side by side.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_compare_command(CLI::App& app);

}  // namespace mrc
