// mrcsim latency SCENARIO: the terms of a small write's latency.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_latency_command(CLI::App& app);

}  // namespace mrc
