// mrcsim why: what makes a scenario faster, found by runs.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_why_command(CLI::App& app, int& exit_code);

}  // namespace mrc
