// GOAL schedules in binary, as the schedule compiler of LogGOPSim writes them.
#pragma once

#include <istream>
#include <string>
#include <string_view>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// A file that begins with these bytes is a binary GOAL schedule.
bool is_goal_binary_head(std::string_view head);

/// All integers are little-endian and follow each other without gaps: a 64-bit magic number (4223); then the header,
/// from whose begin offsets count: 32-bit number of ranks, 8-bit highest CPU, 8-bit highest NIC, and for each rank two
/// 64-bit offsets, the begin and the end of its block. A block: 32-bit numbers of operations and of those that wait for
/// nothing, 32-bit positions of these; 39 bytes for each operation (32-bit dependencies, 8-bit type: 1 send, 2 receive,
/// 3 computation, 32-bit peer, 64-bit bytes or nanoseconds, 32-bit tag, 8-bit CPU, 8-bit NIC, and twice 32-bit number
/// and first entry in the block's list of those that wait for its end, and for its start); and the list, 32-bit
/// positions. Throws TraceError with `name`, rank and operation where the file is damaged: cut, offsets or positions
/// out of range, numbers that do not agree. `in` can be positioned.
Workload read_goal_binary(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings);

}  // namespace mrc
