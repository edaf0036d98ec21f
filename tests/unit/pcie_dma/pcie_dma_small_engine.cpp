#include "pcie_dma_small_engine.h"

#include "Vpcie_dma_small.h"
#include "cosim/pcie_dma/adapter.h"
#include "cosim/pcie_dma/rtl.h"

namespace mrc {

std::unique_ptr<PcieDmaEngine> make_small_pcie_dma(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes) {
  return std::make_unique<PcieDmaAdapter<Vpcie_dma_small, kSmallPcieDmaSizes.tags>>(mrrs_bytes, mps_bytes);
}

}  // namespace mrc
