// mrcsim floorplan: the memories that a scenario's parameters make.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_floorplan_command(CLI::App& app);

}  // namespace mrc
