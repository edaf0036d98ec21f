// When work could start if messages took no time: what computations alone make of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "host/workload.h"

namespace mrc {

struct CriticalPath {
  std::vector<TimePs> starts;        ///< of each node
  TimePs computing_ps = 0;           ///< the longest way through the trace; with equals, that of most communications
  std::uint64_t communications = 0;  ///< messages and collectives one behind another on that way
};

/// Computations of one stream do not take turns here. A collective starts at all its ranks when the last one is there.
CriticalPath critical_path(const Workload& workload);

}  // namespace mrc
