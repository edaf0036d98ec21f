// pcie_dma whose read splitter keeps to 2 KiB (patches/block_of_2k.patch), at the small sizes.
#pragma once

#include <memory>

#include "pcie/pcie_dma_engine.h"

namespace mrc {

std::unique_ptr<PcieDmaEngine> make_pcie_dma_with_block_of_2k(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes);

}  // namespace mrc
