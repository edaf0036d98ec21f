// mrcsim isolation: how much slower tenants are together than each alone.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_isolation_command(CLI::App& app, int& exit_code);

}  // namespace mrc
