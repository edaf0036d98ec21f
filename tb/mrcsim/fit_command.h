// mrcsim fit: parameters of a host, with intervals, from curves that a user has measured.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_fit_command(CLI::App& app);

}  // namespace mrc
