// Work that accelerators do, as trace readers produce it and the trace player executes it: a graph of sends, receives and
// computations. Plain data; a node's dependencies lie on its own rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/types.h"

namespace mrc {

enum class WorkKind : std::uint8_t { send, receive, compute };

inline constexpr std::uint32_t kNoWork = 0xFFFF'FFFF;

struct WorkNode {
  TimePs earliest = 0;               ///< does not start before, with all dependencies done
  TimePs duration = 0;               ///< of a computation
  std::uint64_t bytes = 0;           ///< of a send or receive, at least 1
  std::uint64_t origin = 0;          ///< line or node id in the file it came from
  std::uint32_t rank = 0;
  std::uint32_t peer = 0;            ///< other rank of a send or receive
  std::uint32_t tag = 0;
  std::uint32_t match = kNoWork;     ///< the receive of a send and the other way round; kNoWork for a plain write
  std::uint32_t first_dependent = 0; ///< into Workload::dependents
  std::uint32_t dependents = 0;
  std::uint32_t dependencies = 0;    ///< how many nodes this one waits for
  WorkKind kind = WorkKind::compute;
};

struct Workload {
  std::string source;                     ///< file or pattern, for messages
  std::string format;
  std::uint32_t ranks = 0;
  std::vector<WorkNode> nodes;
  std::vector<std::uint32_t> dependents;  ///< nodes that wait for a node, one after another

  std::uint64_t sends() const {
    std::uint64_t n = 0;
    for (const WorkNode& node : nodes) n += node.kind == WorkKind::send ? 1 : 0;
    return n;
  }
  std::uint64_t bytes() const {
    std::uint64_t n = 0;
    for (const WorkNode& node : nodes) n += node.kind == WorkKind::send ? node.bytes : 0;
    return n;
  }
};

}  // namespace mrc
