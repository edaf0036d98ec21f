// parameters: -G NumSlots=8 -G NumBanks=8 -G MprPsns=384
// transactions: 700000
// sources: tb/cosim/psn_tracker/model.cpp
#include "Vmutants.h"
#include "cosim/psn_tracker/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  constexpr PsnTrackerSizes sizes{8, 8, 3};  // as many banks as a window may lie in: what is beyond it shows
  return run_mutants(argc, argv, [&](std::uint64_t transactions) {
    return stream_mismatch(
        "psn_tracker", transactions,
        std::make_unique<cosim::PsnTrackerModel>(sizes, cosim::make_psn_tracker_dut<Mutant<Vmutants>>));
  });
}
