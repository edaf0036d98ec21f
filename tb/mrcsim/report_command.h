// `mrcsim report`: a result or a database as one HTML page.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_report_command(CLI::App& app);

}  // namespace mrc
