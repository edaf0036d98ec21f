// Which of a rank's NICs carries which message, where ranks have several.
#pragma once

#include <cstdint>

#include "host/workload.h"

namespace mrc {

/// Sends of the trace itself use the NICs of their rank in turn; those of collectives have lanes by channel.
void number_lanes(Workload& workload);

/// Each message as a piece of its own on each of `nics` NICs of its ranks; a message of fewer bytes than NICs has as
/// many pieces as bytes. What waited for the message waits for all pieces. Collectives must have been written out.
/// Throws TraceError for too many nodes.
Workload stripe(Workload workload, std::uint32_t nics);

}  // namespace mrc
