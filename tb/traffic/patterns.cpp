#include "traffic/patterns.h"

#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrc/random.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

void check(const std::string& name, const PatternOptions& options) {
  if (options.ranks < 2 || options.ranks > kMostRank + 1)
    throw TraceError(name, fmt::format("{} ranks; allowed: 2 … {}", options.ranks, kMostRank + 1));
  if (options.bytes < 1 || options.bytes > kMostMessageBytes)
    throw TraceError(name, fmt::format("{} bytes; allowed: 1 … {}", options.bytes, kMostMessageBytes));
  if (options.count < 1) throw TraceError(name, "a count of 0; allowed: 1 or more");
  check_node_count(name, std::uint64_t{options.ranks} * options.count);
}

bool sends_to_itself(const std::vector<std::uint32_t>& destination) {
  for (std::uint32_t rank = 0; rank < destination.size(); ++rank) {
    if (destination[rank] == rank) return true;
  }
  return false;
}

/// By rank. Draws until no rank is its own destination, so that those that are left are equally likely.
std::vector<std::uint32_t> draw_destinations(std::uint32_t ranks, std::uint64_t seed) {
  KeyedRandom random(seed, "permutation");
  std::vector<std::uint32_t> destination(ranks);
  do {
    std::iota(destination.begin(), destination.end(), 0U);
    for (std::uint32_t i = ranks - 1; i > 0; --i) std::swap(destination[i], destination[random.below(i + 1)]);
  } while (sends_to_itself(destination));
  return destination;
}

/// Rounds of one write of each rank to its destination; a rank that is its own does not send.
Workload make_writes(const std::string& name, const PatternOptions& options,
                     const std::vector<std::uint32_t>& destination) {
  WorkloadBuilder builder;
  for (std::uint32_t round = 0; round < options.count; ++round) {
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      if (destination[rank] == rank) continue;
      WorkNode write;
      write.kind = WorkKind::send;
      write.rank = rank;
      write.peer = destination[rank];
      write.bytes = options.bytes;
      write.tag = static_cast<std::uint32_t>(builder.size());
      builder.add(write);
    }
  }
  Workload workload = builder.finish(options.ranks);
  workload.source = name;
  return workload;
}

}  // namespace

Workload make_collectives(const std::string& name, CollectiveKind kind, const PatternOptions& options) {
  check(name, options);
  WorkloadBuilder builder;
  std::vector<std::uint32_t> ranks(options.ranks);
  std::iota(ranks.begin(), ranks.end(), 0U);
  const std::uint32_t group = builder.group(ranks);
  for (std::uint32_t i = 0; i < options.count; ++i) {
    const std::uint32_t collective = builder.collective({kind, options.bytes, group, 0});
    for (const std::uint32_t rank : ranks) {
      WorkNode node;
      node.kind = WorkKind::collective;
      node.rank = rank;
      node.match = collective;
      node.origin = i;
      const std::uint32_t position = builder.add(node);
      if (i > 0) builder.depend(position, position - options.ranks);
    }
  }
  Workload workload = builder.finish(options.ranks);
  workload.source = name;
  return workload;
}

Workload make_permutation(const PatternOptions& options, std::uint64_t seed) {
  constexpr const char* name = "permutation";
  check(name, options);
  return make_writes(name, options, draw_destinations(options.ranks, seed));
}

Workload make_incast(const PatternOptions& options, std::uint32_t receiver) {
  constexpr const char* name = "incast";
  check(name, options);
  if (receiver >= options.ranks)
    throw TraceError(name, fmt::format("the receiver is rank {}; allowed: 0 … {}", receiver, options.ranks - 1));
  return make_writes(name, options, std::vector<std::uint32_t>(options.ranks, receiver));
}

}  // namespace mrc
