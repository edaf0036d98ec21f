#include "pcie_dma_bug_engine.h"

#include "Vpcie_dma_block_of_2k.h"
#include "cosim/pcie_dma/adapter.h"
#include "cosim/pcie_dma/rtl.h"

namespace mrc {

std::unique_ptr<PcieDmaEngine> make_pcie_dma_with_block_of_2k(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes) {
  return std::make_unique<PcieDmaAdapter<Vpcie_dma_block_of_2k, kSmallPcieDmaSizes.tags>>(mrrs_bytes, mps_bytes);
}

}  // namespace mrc
