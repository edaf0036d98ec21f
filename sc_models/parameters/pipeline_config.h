// Fixed pipeline of a box, in cycles of its clock.
#pragma once

#include <cstdint>

namespace mrc {

/// Result after `latency_cycles`, next start after `initiation_interval_cycles`.
struct PipelineConfig {
  std::uint32_t latency_cycles = 4;
  std::uint32_t initiation_interval_cycles = 1;
};

}  // namespace mrc
