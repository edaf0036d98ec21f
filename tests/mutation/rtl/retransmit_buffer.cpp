// parameters: -G Qps=4 -G NumSlots=2 -G Records=64 -G Buckets=32
// transactions: 200000
// sources: tb/cosim/retransmit_buffer/model.cpp tb/cosim/retransmit_buffer/cycles.cpp
#include "Vmutants.h"
#include "cosim/retransmit_buffer/model.h"
#include "rtl/run_mutants.h"
#include "rtl/stream_mismatch.h"

int main(int argc, char** argv) {
  using namespace mrc;
  constexpr RetransmitBufferSizes sizes{4, 64, 2};
  return run_mutants(argc, argv, [&](std::uint64_t transactions) {
    auto model =
        std::make_unique<cosim::RetransmitBufferModel>(sizes, 32, cosim::make_retransmit_buffer_dut<Mutant<Vmutants>>);
    return stream_mismatch("retransmit_buffer", transactions, std::move(model));
  });
}
