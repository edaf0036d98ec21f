// parameters: -G NumSlots=2 -G MaxEvs=8 -G NumPlanes=4
// transactions: 3000000
// sources: tb/cosim/spray_scheduler/model.cpp
#include "Vmutants.h"
#include "cosim/spray_scheduler/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  return run_mutants(argc, argv, [](std::uint64_t transactions) {
    return stream_mismatch("spray_scheduler", transactions,
                           std::make_unique<cosim::SpraySchedulerModel>(
                               SpraySizes{2, 8, 4}, 2U, cosim::make_spray_scheduler_dut<Mutant<Vmutants>>));
  });
}
