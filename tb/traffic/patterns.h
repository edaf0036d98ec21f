// Patterns of traffic among all ranks, for traces that are generated.
#pragma once

#include <cstdint>
#include <string>

#include "host/workload.h"

namespace mrc {

/// Who sends, how much, and how often.
struct PatternOptions {
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 1 << 20;
  std::uint32_t count = 1;
};

// All throw TraceError at the pattern's name for fewer than 2 ranks, bytes outside of 1 … 2^40, a count of 0, and more
// than kMostWorkNodes nodes.

/// `count` collectives over all ranks, each behind the one before; `bytes` as in Collective. `name` is for messages.
Workload make_collectives(const std::string& name, CollectiveKind kind, const PatternOptions& options);

/// Every rank writes `count` times to one other rank, and no two to the same; the seed decides which. All are equally
/// likely. The writes are in rounds, so that the first `ranks` of them are one of each rank.
Workload make_permutation(const PatternOptions& options, std::uint64_t seed);

/// Every rank but `receiver` writes `count` times to it, in rounds. Throws TraceError for a receiver beyond the ranks.
Workload make_incast(const PatternOptions& options, std::uint32_t receiver);

}  // namespace mrc
