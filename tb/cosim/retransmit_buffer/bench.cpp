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
  auto model = std::make_unique<RetransmitBufferModel>(kRetransmitBufferSizes,
                                                       make_retransmit_buffer_dut<Vretransmit_buffer_bench>);
  model->compare_cycles(4 * kRetransmitBufferSizes.records);
#else
  auto model = std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64, 8},
                                                       make_retransmit_buffer_dut<Vretransmit_buffer_bench_small>);
  model->compare_cycles(32);
#endif
  return model;
}

}  // namespace mrc::cosim
