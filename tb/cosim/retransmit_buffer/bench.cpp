#include "cosim/retransmit_buffer/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vretransmit_buffer_bench.h"
#else
#include "Vretransmit_buffer_bench_small.h"
#endif
#include "cosim/retransmit_buffer/model.h"
#include "cosim/retransmit_buffer/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_retransmit_buffer_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<RetransmitBufferModel>(kRetransmitBufferSizes, 4 * kRetransmitBufferSizes.records,
                                                 make_retransmit_buffer_dut<Vretransmit_buffer_bench>);
#else
  return std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64, 8}, 32,
                                                 make_retransmit_buffer_dut<Vretransmit_buffer_bench_small>);
#endif
}

}  // namespace mrc::cosim
