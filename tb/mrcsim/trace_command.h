// `mrcsim trace`: inspects traces and generates small ones.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_trace_command(CLI::App& app, int& exit_code);

}  // namespace mrc
