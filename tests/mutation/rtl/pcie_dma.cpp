// parameters: -G Tags=8 -G Jobs=8 -G BufferBytes=8192
// transactions: 100000
#include "Vmutants.h"
#include "cosim/pcie_dma_bench.h"
#include "rtl/run_mutants.h"

int main(int argc, char** argv) {
  return mrc::run_mutants(argc, argv, [](std::uint64_t transactions) {
    return mrc::PcieDmaBench<mrc::Mutant<Vmutants>>({8, 8, 8192}, 1).run(transactions).first_mismatch;
  });
}
