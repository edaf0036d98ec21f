// parameters: -G NumQps=8 -G NumSlots=4
// transactions: 100000
// sources: tb/cosim/qp_scheduler/model.cpp
#include "Vmutants.h"
#include "cosim/qp_scheduler/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  return run_mutants(argc, argv, [](std::uint64_t transactions) {
    return stream_mismatch("qp_scheduler", transactions,
                           std::make_unique<cosim::QpSchedulerModel>(QpSchedulerSizes{8, 4},
                                                                     cosim::make_qp_scheduler_dut<Mutant<Vmutants>>));
  });
}
