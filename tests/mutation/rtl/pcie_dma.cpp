// parameters: -G Tags=8 -G Jobs=8 -G BufferBytes=1048576
// transactions: 400000
// sources: tb/cosim/pcie_dma/model.cpp
#include "Vmutants.h"
#include "cosim/pcie_dma/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  return run_mutants(argc, argv, [](std::uint64_t transactions) {
    return stream_mismatch("pcie_dma", transactions,
                           std::make_unique<cosim::PcieDmaModel>(PcieDmaSizes{8, 8, 1'048'576},
                                                                 cosim::make_pcie_dma_dut<Mutant<Vmutants>>));
  });
}
