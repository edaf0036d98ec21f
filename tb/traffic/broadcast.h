// Broadcast as a chain: rank 0 is the root, and each rank passes the data on to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/workload_builder.h"

namespace mrc {

/// Adds the chain in the place of one node a rank, as add_ring_all_reduce_in_place() does.
void add_broadcast_in_place(WorkloadBuilder& builder, const std::vector<std::uint32_t>& at, std::uint64_t bytes);

}  // namespace mrc
