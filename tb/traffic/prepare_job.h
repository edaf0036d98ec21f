// From [traffic] of a scenario to the input of players: the trace of the job and background traces, reduced to size,
// with the NICs of each rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/workload.h"
#include "parameters/config.h"
#include "traffic/read_options.h"

namespace mrc {

struct Job {
  Workload workload;
  std::vector<NodeId> nics_of_ranks;  ///< traffic.nics_per_rank of rank 0, of rank 1, …
  std::vector<std::string> cut;       ///< reductions of the trace, such as "traffic.ranks = 8"
  std::vector<std::string> warnings;
};

/// `scenario_file`: where relative paths of traffic.background begin. Collectives stay whole with transport "ideal",
/// and so do identical ranks if one can represent all; otherwise both are expanded. Throws TraceError for
/// traces that cannot be read or do not fit the topology.
Job prepare_job(const ScenarioConfig& scenario, const std::string& scenario_file, const ReadProgress& progress = {});

/// traffic.nics_per_rank NICs of each of `ranks` ranks by traffic.placement, rank by rank; throws TraceError.
std::vector<NodeId> place_ranks(const ScenarioConfig& scenario, std::uint32_t ranks);

/// Data packets of all sends and reductions; collectives must have been expanded.
std::uint64_t expected_packets(const Workload& workload, std::uint32_t mtu_bytes);

}  // namespace mrc
