// Verilated ack_coalescer as an engine of the SystemC box.
#pragma once

#include <memory>

#include "cosim/contract.h"
#include "cosim/trace.h"
#include "nic/control/ack_coalescer_engine.h"

namespace mrc {

inline constexpr std::uint32_t kAckCoalescerSlots = 1'024;  ///< contexts in the block

std::unique_ptr<AckCoalescerEngine> make_ack_coalescer_rtl(std::uint32_t threshold_bytes, std::uint32_t min_add_bytes,
                                                           const cosim::TraceRecorder& recorder = {},
                                                           const RtlContract& contract = {});

}  // namespace mrc
