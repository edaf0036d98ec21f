// Chakra execution traces: one file per rank, or one file that represents every rank.
#pragma once

#include <string>
#include <vector>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// `files[r]` is rank r's trace. One file that names no other rank represents `options.ranks` ranks. Data dependencies
/// bind: a missing one or a loop throws TraceError. Bad control dependencies are dropped and reported in one line of
/// `warnings`. Collectives are of the ranks that name the same pg_name, of all where there is none; without comm_type
/// they are work of the host. Throws TraceError with file and node.
Workload read_chakra(const std::vector<std::string>& files, const ReadOptions& options, Warnings& warnings);

/// True if the file begins like a Chakra trace: a length and a GlobalMetadata message of that length.
bool looks_like_chakra(const std::string& file);

}  // namespace mrc
