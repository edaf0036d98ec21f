// `transport = "ideal"`: a lower bound of the times of a trace, for every transport and fidelity. A message takes the
// least fixed latency and its serialization alone at its NICs' line rates, with the smallest framing of the transports:
// no queue in a switch, no loss, no PCIe limit. Work that waits for several messages of a NIC also waits for the time
// that they take on its line together; so does the end of a run. Computations run in the order in which they become
// ready: where another transport changes this order, a stream may end earlier than here. Collectives are carried out
// lazily, so that only those under way take memory.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "host/workload.h"
#include "parameters/config.h"
#include "results/progress.h"
#include "results/run_result.h"

namespace mrc {

/// Post until software of the receiver acts, without serialization: the shortest that `scenario` allows, for a message
/// of as few bytes as are read (or are inline) as `bytes` are.
TimePs ideal_latency_ps(const ScenarioConfig& scenario, std::uint64_t bytes);

/// One message's time on the wires of a NIC's ports: its bytes, and headers and framing of its packets.
TimePs ideal_serialization_ps(const ScenarioConfig& scenario, NodeId node, std::uint64_t bytes);

/// Plays `workload` to its end; where all ranks are alike (and every collective's ranks do the same, with one rank a
/// node, or several nodes a rank) one rank represents all, which changes no time. `nics_of_ranks` are the nodes of rank
/// 0, of rank 1 …, traffic.nics_per_rank of each; ranks of one node exchange messages by the scale-up fabric. Throws
/// std::invalid_argument for collectives that cannot be made.
/// `progress` hears the share of the work that is done.
RunResult run_ideal(const ScenarioConfig& scenario, const Workload& workload, const std::vector<NodeId>& nics_of_ranks,
                    const std::atomic<bool>& interrupted, const ProgressListener& progress = {});

}  // namespace mrc
