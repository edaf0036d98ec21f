#include "cosim/retransmit_buffer/bench.h"

#include "Vretransmit_buffer_bench.h"
#include "Vretransmit_buffer_bench_small.h"
#include "cosim/retransmit_buffer/model.h"
#include "cosim/retransmit_buffer/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_retransmit_buffer_bench_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<RetransmitBufferModel>(kRetransmitBufferSizes,
                                                   make_retransmit_buffer_dut<Vretransmit_buffer_bench>);
  }
  return std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64},
                                                 make_retransmit_buffer_dut<Vretransmit_buffer_bench_small>);
}

}  // namespace mrc::cosim
