// mrcsim attack: cases inside a declared envelope that break sized buffers.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_attack_command(CLI::App& app, int& exit_code);

}  // namespace mrc
