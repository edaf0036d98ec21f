#include "cosim/pcie_dma/bench.h"

#include "Vpcie_dma_bench.h"
#include "Vpcie_dma_bench_small.h"
#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_pcie_dma_bench_model(const std::string& size) {
  if (size == "default") return std::make_unique<PcieDmaModel>(kPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench>);
  return std::make_unique<PcieDmaModel>(kSmallPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench_small>);
}

}  // namespace mrc::cosim
