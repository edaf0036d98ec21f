// `transport = "ideal"`: the bound to compare with. Every NIC sends and receives at line rate with the framing of full
// packets; a message takes its serialization and a fixed latency, and nothing else: no queue in a switch, no loss, no
// acknowledgement to wait for but one flight back, no PCIe limit. Collectives are carried out lazily, so that only
// those under way take memory.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "host/workload.h"
#include "parameters/config.h"
#include "results/progress.h"
#include "results/run_result.h"

namespace mrc {

/// Post until software of the receiver acts, without serialization on the wire: the terms of latency_terms() for a
/// message of as few bytes as are read (or are inline) as `bytes` are.
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
