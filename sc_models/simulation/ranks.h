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
/// Makes rank 0 know what all ranks know, `series` included. Precondition: there are several.
void gather(Model& model, Series& series);

/// What only the transport counts, of the nodes of this rank.
TransportCounts transport_counts(const Model& model);

}  // namespace mrc
