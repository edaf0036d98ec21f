// parameters: -G DataWidth=512
// transactions: 10000
// sources: tb/cosim/srv6_encap/model.cpp
#include "Vmutants.h"
#include "cosim/srv6_encap/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  return run_mutants(argc, argv, [](std::uint64_t transactions) {
    return stream_mismatch("srv6_encap", transactions,
                           std::make_unique<cosim::Srv6EncapModel>(64, cosim::make_srv6_encap_dut<Mutant<Vmutants>>));
  });
}
