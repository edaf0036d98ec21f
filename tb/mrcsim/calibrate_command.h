// mrcsim calibrate: compares the cycles of the RTL blocks with those of the SystemC boxes.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_calibrate_command(CLI::App& app, int& exit_code);

}  // namespace mrc
