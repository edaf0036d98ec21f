// Totals of a trace, counted while it is read, so that the length of the file does not matter.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "host/workload.h"

namespace mrc {

struct TraceTotals {
  std::uint64_t nodes = 0;
  std::uint64_t sends = 0;
  std::uint64_t receives = 0;
  std::uint64_t computations = 0;
  std::uint64_t bytes = 0;  ///< of sends
  TimePs computing_ps = 0;
  std::map<std::uint64_t, std::uint64_t> sizes;  ///< of sends → count
  std::uint64_t sends_of_other_sizes = 0;        ///< beyond the first kMostSizes different ones
  /// Members' nodes by kind and bytes: a collective of 8 ranks counts 8 times if all their nodes are present.
  std::map<std::pair<CollectiveKind, std::uint64_t>, std::uint64_t> collectives;

  /// Members' nodes of collectives whose groups have one rank: they move nothing.
  std::uint64_t lone_collective_nodes = 0;

  static constexpr std::size_t kMostSizes = 4096;

  /// There are communications, but none moves a byte between ranks.
  bool is_silent() const {
    return sends == 0 && lone_collective_nodes > 0 && lone_collective_nodes == collective_nodes();
  }
  /// `collective` is that of a node of this kind.
  void add(const WorkNode& node, const Collective* collective) {
    ++nodes;
    switch (node.kind) {
      case WorkKind::send:
        ++sends;
        bytes += node.bytes;
        if (sizes.size() < kMostSizes || sizes.count(node.bytes) > 0) {
          ++sizes[node.bytes];
        } else {
          ++sends_of_other_sizes;
        }
        break;
      case WorkKind::receive:
        ++receives;
        break;
      case WorkKind::compute:
        ++computations;
        computing_ps += node.duration;
        break;
      case WorkKind::collective:
        ++collectives[{collective->kind, collective->bytes}];
        break;
      case WorkKind::reduction:  // not in a trace: made of collectives
        break;
    }
  }
  std::uint64_t collective_nodes() const {
    std::uint64_t n = 0;
    for (const auto& [kind, count] : collectives) n += count;
    return n;
  }
  std::uint64_t collective_bytes() const {
    std::uint64_t n = 0;
    for (const auto& [kind, count] : collectives) n += kind.second * count;
    return n;
  }
};

}  // namespace mrc
