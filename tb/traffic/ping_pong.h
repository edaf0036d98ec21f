// Two ranks that answer each other: rank 0 sends, rank 1 sends when that message has arrived, rank 0 sends the next
// when the answer has arrived, and so on.
#pragma once

#include <cstdint>

#include "host/workload.h"

namespace mrc {

/// `count` messages (at least 1) of `bytes` (1 … 2^40) per direction. Throws TraceError outside these ranges.
Workload make_ping_pong(std::uint32_t count, std::uint64_t bytes);

}  // namespace mrc
