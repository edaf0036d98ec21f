#include "cosim/pcie_dma/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vpcie_dma_bench.h"
#else
#include "Vpcie_dma_bench_small.h"
#endif
#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_pcie_dma_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<PcieDmaModel>(kPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench>);
#else
  return std::make_unique<PcieDmaModel>(kSmallPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench_small>);
#endif
}

}  // namespace mrc::cosim
