// parameters: -G NumSlots=4
// transactions: 100000
// sources: tb/cosim/ack_coalescer/model.cpp
#include "Vmutants.h"
#include "cosim/ack_coalescer/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  return run_mutants(argc, argv, [](std::uint64_t transactions) {
    return stream_mismatch(
        "ack_coalescer", transactions,
        std::make_unique<cosim::AckCoalescerModel>(4, cosim::make_ack_coalescer_dut<Mutant<Vmutants>>));
  });
}
