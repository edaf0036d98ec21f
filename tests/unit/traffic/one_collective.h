// A workload of one collective over all ranks, as messages.
#pragma once

#include <numeric>

#include "traffic/expand_collectives.h"
#include "traffic/workload_builder.h"

namespace mrc {

inline Workload one_collective_unexpanded(CollectiveKind kind, std::uint32_t ranks, std::uint64_t bytes) {
  WorkloadBuilder builder;
  std::vector<std::uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0U);
  const std::uint32_t position = builder.collective({kind, bytes, builder.group(all), 0});
  for (const std::uint32_t rank : all) {
    WorkNode node;
    node.kind = WorkKind::collective;
    node.rank = rank;
    node.match = position;
    builder.add(node);
  }
  return builder.finish(ranks);
}

inline Workload one_collective(CollectiveKind kind, std::uint32_t ranks, std::uint64_t bytes,
                               const CollectiveOptions& options) {
  return expand_collectives(one_collective_unexpanded(kind, ranks, bytes), options);
}

}  // namespace mrc
