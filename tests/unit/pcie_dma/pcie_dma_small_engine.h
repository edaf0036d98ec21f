// pcie_dma in the sizes of the tests.
#pragma once

#include <cstdint>
#include <memory>

#include "pcie/pcie_dma_engine.h"

namespace mrc {

std::unique_ptr<PcieDmaEngine> make_small_pcie_dma(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes);

}  // namespace mrc
