// The traffic class and the job of each message and collective: from the priorities in a trace and the rules of the
// scenario (traffic.classes.rules).
#pragma once

#include "host/workload.h"
#include "parameters/traffic_classes.h"

namespace mrc {

/// Work of the trace that is played as job number `job`, its collectives not yet expanded. Throws ParameterError for
/// rules that cannot be read.
void classify(Workload& workload, const TrafficClasses& classes, std::uint32_t job);

}  // namespace mrc
