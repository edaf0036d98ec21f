#include "cosim/ack_coalescer/bench.h"

#include "Vack_coalescer_bench.h"
#include "Vack_coalescer_bench_small.h"
#include "cosim/ack_coalescer/model.h"
#include "cosim/ack_coalescer/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_ack_coalescer_bench_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<AckCoalescerModel>(kAckCoalescerQps, make_ack_coalescer_dut<Vack_coalescer_bench>);
  }
  return std::make_unique<AckCoalescerModel>(64, make_ack_coalescer_dut<Vack_coalescer_bench_small>);
}

}  // namespace mrc::cosim
