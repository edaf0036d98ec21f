#include "cosim/retransmit_buffer/rtl.h"

#include "Vretransmit_buffer_4096.h"
#include "cosim/retransmit_buffer/adapter.h"

namespace mrc {

std::unique_ptr<RetransmitBufferEngine> make_retransmit_buffer_rtl(const ScenarioConfig& scenario, NodeId node,
                                                                   const cosim::TraceRecorder& recorder) {
  check_retransmit_buffer(scenario, node);
  return std::make_unique<RetransmitBufferAdapter<Vretransmit_buffer_4096>>(recorder);
}

}  // namespace mrc
