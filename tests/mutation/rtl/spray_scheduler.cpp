// parameters: -G NumSlots=2 -G MaxEvs=8 -G NumPlanes=2
// transactions: 50000
#include "Vmutants.h"
#include "cosim/spray_scheduler_bench.h"
#include "rtl/run_mutants.h"

int main(int argc, char** argv) {
  return mrc::run_mutants(argc, argv, [](std::uint64_t transactions) {
    return mrc::SpraySchedulerBench<mrc::Mutant<Vmutants>>({2, 8, 2}, 1).run(transactions).first_mismatch;
  });
}
