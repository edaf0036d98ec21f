#include "cosim/ack_coalescer/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vack_coalescer_bench.h"
#else
#include "Vack_coalescer_bench_small.h"
#endif
#include "cosim/ack_coalescer/model.h"
#include "cosim/ack_coalescer/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_ack_coalescer_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<AckCoalescerModel>(kAckCoalescerSlots, make_ack_coalescer_dut<Vack_coalescer_bench>);
#else
  return std::make_unique<AckCoalescerModel>(64, make_ack_coalescer_dut<Vack_coalescer_bench_small>);
#endif
}

}  // namespace mrc::cosim
