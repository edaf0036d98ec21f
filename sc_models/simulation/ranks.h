// What a run on several ranks needs beside one on a single: windows of time, what is exchanged between them, and rank
// 0's copy of what the others know at the end. docs/scale.md. On a single rank these do nothing more than run the
// kernel.
#pragma once

#include "results/series.h"
#include "simulation/model.h"

namespace mrc {

/// Which nodes are this rank's. The fabric is there, nodes are not.
void build_split(Model& model);
/// With everything built: cuts the network.
void join_ranks(Model& model);
/// Runs the kernel to `end`, on several ranks window by window.
void run_until(Model& model, TimePs end);
// Preconditions of the following: there are several ranks, and all of them call it.
/// Makes rank 0 know which buffers the NICs of the others have.
void gather_buffer_names(Model& model);
/// Makes rank 0 know what all ranks know, `series` included, but for their NICs.
void gather(Model& model, Series& series);
/// Makes rank 0 know what the result needs of the other ranks' NICs. `end`: of the run, as rank 0 knows it.
void gather_nics(Model& model, TimePs end);

/// What only the transport counts, of the nodes of this rank.
TransportCounts transport_counts(const Model& model);

}  // namespace mrc
