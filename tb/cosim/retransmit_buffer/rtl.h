// Verilated retransmit_buffer as an engine of the SystemC boxes.
#pragma once

#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "cosim/trace.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "parameters/config.h"

namespace mrc {

inline constexpr RetransmitBufferSizes kRetransmitBufferSizes{16'384, 4'096, 1'024};

/// Throws std::invalid_argument, naming what is built, for sizes that are not and for settings that the block does not
/// know.
inline void check_retransmit_buffer(const ScenarioConfig& scenario, NodeId node) {
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
}

/// The RTL for a node of this scenario. Throws as check_retransmit_buffer().
std::unique_ptr<RetransmitBufferEngine> make_retransmit_buffer_rtl(const ScenarioConfig& scenario, NodeId node,
                                                                   const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
