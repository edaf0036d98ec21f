#include "cosim/retransmit_buffer/rtl.h"

#include <fmt/format.h>

#include "Vretransmit_buffer_4096.h"
#include "cosim/retransmit_buffer/adapter.h"

namespace mrc {
std::unique_ptr<RetransmitBufferEngine> make_retransmit_buffer_rtl(const ScenarioConfig& scenario, NodeId node,
                                                                   const cosim::TraceRecorder& recorder) {
  const std::uint32_t entries = scenario.node(node).nic.retransmit_buffer.entries;
  if (entries != kRetransmitBufferSizes.records) {
    throw std::invalid_argument(
        fmt::format("nic.retransmit_buffer.entries = {}: RTL of retransmit_buffer is built for {}", entries,
                    kRetransmitBufferSizes.records));
  }
  if (scenario.protocol.timeout_backoff != TimeoutBackoff::qp) {
    throw std::invalid_argument(
        "protocol.timeout_backoff = packet: RTL of retransmit_buffer keeps one timer a QP; allowed with it: qp");
  }
  return std::make_unique<RetransmitBufferAdapter<Vretransmit_buffer_4096>>(recorder);
}

}  // namespace mrc
