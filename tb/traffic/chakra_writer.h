// Writes a workload as Chakra execution traces, one file per rank.
#pragma once

#include <string>

#include "host/workload.h"

namespace mrc {

/// `pattern` holds {rank}. Plain WRITEs get a receive at the peer, so that the trace is complete for other tools.
/// The format has whole microseconds and no binding start times: earliest times and the rest of a duration are lost.
/// `workload` has the nodes of every rank and no waits across ranks (replicate(), expand_collectives()); collectives
/// may be in it. Files are written completely or not at all; throws OutputError where they cannot be written,
/// TraceError for a pattern without {rank}.
void write_chakra(const Workload& workload, const std::string& pattern);

}  // namespace mrc
