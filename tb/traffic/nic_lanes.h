// Selection of the NIC for each message of a rank with several NICs.
#pragma once

#include <cstdint>

#include "host/workload.h"

namespace mrc {

/// Sends of the trace itself use the NICs of their rank in turn; those of collectives have lanes by channel.
void number_lanes(Workload& workload);

/// Each message as a piece of its own on each of `nics` NICs of its ranks; a message of fewer bytes than NICs has as
/// many pieces as bytes. Dependents of the message wait for all pieces. Collectives must have been expanded.
/// Throws TraceError for too many nodes.
Workload stripe(Workload workload, std::uint32_t nics);

}  // namespace mrc
