// Verilated pcie_dma as an engine of the SystemC box.
#pragma once

#include <memory>

#include "cosim/contract.h"
#include "cosim/trace.h"
#include "parameters/config.h"
#include "pcie/pcie_dma_engine.h"

namespace mrc {

inline constexpr PcieDmaSizes kPcieDmaSizes{512, 1024, 262'144};
/// Of the tests.
inline constexpr PcieDmaSizes kSmallPcieDmaSizes{8, 32, 8192};

/// The RTL for a node; throws std::invalid_argument, naming both sizes, where the node's are not those that are built.
std::unique_ptr<PcieDmaEngine> make_pcie_dma_rtl(const NodeConfig& node, const cosim::TraceRecorder& recorder = {},
                                                 const RtlContract& contract = {});

}  // namespace mrc
