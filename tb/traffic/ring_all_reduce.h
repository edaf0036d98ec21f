// All-reduce as a ring: in each of 2(N - 1) steps every rank passes a share of the data on to the next rank; shares are
// cut into chunks whose rings run side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "host/workload.h"
#include "traffic/workload_builder.h"

namespace mrc {

/// Nodes of the rings of `chunks` chunks.
std::uint64_t ring_all_reduce_nodes(std::uint32_t ranks, std::uint64_t chunks);

/// A workload of its own: `ranks` at least 2, 1 … 2^40 `bytes` are reduced; `chunk_bytes` 0 leaves shares whole. A
/// reduction is a computation of no duration: it only orders. Throws TraceError outside these ranges and for rings of
/// more than kMostWorkNodes nodes.
Workload make_ring_all_reduce(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk_bytes);

/// Adds the ring in the place of one node a rank: what waits for `at[rank]` waits for the ring's end, and the ring
/// starts when that node's own dependencies are done.
void add_ring_all_reduce_in_place(WorkloadBuilder& builder, const std::vector<std::uint32_t>& at, std::uint64_t bytes);

}  // namespace mrc
