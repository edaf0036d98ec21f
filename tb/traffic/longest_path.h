// The times at which work could start if messages took no time.
#pragma once

#include <cstdint>
#include <vector>

#include "host/workload.h"

namespace mrc {

struct LongestPath {
  std::vector<TimePs> starts;  ///< of each node
  TimePs computing_ps = 0;     ///< the longest path through the trace; among equal ones that with most communications
  std::uint64_t communications = 0;  ///< consecutive messages and collectives on that path
};

/// Computations of one stream do not take turns here. A collective starts at all its ranks when the last one is ready.
LongestPath longest_path(const Workload& workload);

}  // namespace mrc
