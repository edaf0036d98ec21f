// Verilated retransmit_buffer as an engine of the SystemC boxes.
#pragma once

#include <memory>

#include "cosim/trace.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "parameters/config.h"

namespace mrc {

inline constexpr RetransmitBufferSizes kRetransmitBufferSizes{16'384, 4'096, 1'024};

/// The RTL for a node of this scenario; throws std::invalid_argument, naming what is built, for sizes that are not and
/// for settings that the block does not know.
std::unique_ptr<RetransmitBufferEngine> make_retransmit_buffer_rtl(const ScenarioConfig& scenario, NodeId node,
                                                                   const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
