// mrcsim pcie: latency and bandwidth of the PCIe link and the host behind it, without NIC and fabric.
#pragma once

#include <CLI/CLI.hpp>

namespace mrc {

void add_pcie_command(CLI::App& app);

}  // namespace mrc
