// mrcsim floorplan: the memories that follow from the parameters of a scenario.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_floorplan_command(CLI::App& app);

}  // namespace mrc
