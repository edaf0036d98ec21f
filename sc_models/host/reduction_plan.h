// The reductions that switches carry out, as all NICs know them before the run: which NICs share a tree, in which order
// their reductions come, and what each NIC puts in, so that it can tell whether a result is right.
#pragma once

#include <cstdint>
#include <vector>

#include "host/work_player.h"
#include "host/workload.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

/// NICs whose reductions follow each other on one tree in each plane, in the order of the trace.
struct ReductionStream {
  std::vector<NodeId> nics;               ///< in the order of the group's ranks
  std::vector<std::uint32_t> reductions;  ///< positions in Workload::reductions
  std::uint64_t sum_of_weights = 0;       ///< of all NICs
};

class ReductionPlan {
 public:
  /// `workload` outlives the plan.
  ReductionPlan(const Workload& workload, const WorkPlacement& placement, std::uint64_t seed);

  const std::vector<ReductionStream>& streams() const { return streams_; }
  /// Streams of a NIC.
  const std::vector<std::uint32_t>& streams_of(NodeId node) const { return of_node_[node]; }
  std::uint32_t stream_of(std::uint32_t reduction) const { return stream_of_[reduction]; }
  const Workload& workload() const { return *workload_; }

  /// What `node` puts into packet `sequence` of `tree`, and what comes out: a product of both, so that a NIC's values
  /// that are missing or counted twice, or are those of another packet, make another sum.
  std::uint64_t value_of(NodeId node, std::uint32_t stream, std::uint32_t tree, std::uint64_t sequence) const {
    return weight_of(node, stream) * factor_of(tree, sequence);
  }
  std::uint64_t sum_of(std::uint32_t stream, std::uint32_t tree, std::uint64_t sequence) const {
    return streams_[stream].sum_of_weights * factor_of(tree, sequence);
  }

 private:
  std::uint64_t weight_of(NodeId node, std::uint32_t stream) const {
    return mix64(seed_ ^ mix64(std::uint64_t{stream} << 32 | node));
  }
  /// Odd, so that no product of a weight is lost.
  std::uint64_t factor_of(std::uint32_t tree, std::uint64_t sequence) const {
    return mix64(mix64(seed_ + tree) ^ sequence) | 1;
  }

  const Workload* workload_;
  std::uint64_t seed_;
  std::vector<ReductionStream> streams_;
  std::vector<std::uint32_t> stream_of_;             ///< by reduction
  std::vector<std::vector<std::uint32_t>> of_node_;  ///< by node
};

}  // namespace mrc
