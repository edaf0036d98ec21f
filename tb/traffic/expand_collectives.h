// From a trace to messages of NICs: one rank that represents all is replicated, collectives become messages.
#pragma once

#include "host/collective_schedule.h"
#include "host/workload.h"

namespace mrc {

/// The nodes of every rank of a workload whose ranks all do the same; others are returned as they are. Throws
/// TraceError for more than kMostWorkNodes nodes and for groups that the ranks do not fill.
Workload replicate(Workload workload);

/// Replicated, with waits across ranks as messages of 1 byte; collectives stay.
Workload without_waits_across_ranks(Workload workload);

/// Collectives become sends and receives between a start and an end node a rank; waits across ranks become messages of
/// 1 byte. `workload` is replicated first. Throws TraceError for more than kMostWorkNodes nodes, for a collective over
/// a single rank of a workload of one rank, and for algorithms that do not fit the group.
/// `launch_ps` is the start node's duration.
Workload expand_collectives(Workload workload, const CollectiveOptions& options, TimePs launch_ps = 0);

}  // namespace mrc
