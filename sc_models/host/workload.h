// Work that accelerators do, as trace readers produce it and players execute it: a graph of sends, receives,
// computations and collectives. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/types.h"

namespace mrc {

/// A collective is unexpanded in a trace; expand_collectives() turns it into sends and receives.
/// Of an all-reduce that switches carry out, each rank's part is a reduction.
enum class WorkKind : std::uint8_t { send, receive, compute, collective, reduction };

/// What NCCL and RCCL offer. `bytes` of a collective is that of the NCCL tests: the buffer that is reduced, the whole
/// that is gathered, scattered or exchanged a rank.
enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  barrier,
};
inline constexpr std::size_t kCollectiveKinds = 9;

const char* to_string(CollectiveKind kind);

inline constexpr std::uint32_t kNoWork = 0xFFFF'FFFF;
/// Stream of work that the host does: nothing else waits for it.
inline constexpr std::uint8_t kNoStream = 0;
/// First compute stream of an accelerator; computations of one stream run one after another.
inline constexpr std::uint8_t kComputeStream = 1;

struct WorkNode {
  TimePs earliest = 0;       ///< does not start before, with all dependencies done
  TimePs duration = 0;       ///< of a computation
  std::uint64_t bytes = 0;   ///< of a send, receive or reduction, at least 1
  std::uint64_t origin = 0;  ///< line or node id in the file it came from
  std::uint32_t rank = 0;
  std::uint32_t peer = 0;  ///< other rank of a send or receive
  std::uint32_t tag = 0;
  std::uint32_t match = kNoWork;      ///< the receive of a send and the other way round, kNoWork for a plain write;
                                      ///< of a collective: position in Workload::collectives, of a reduction in
                                      ///< Workload::reductions
  std::uint32_t first_dependent = 0;  ///< into Workload::dependents
  std::uint32_t dependents = 0;
  std::uint32_t dependencies = 0;  ///< how many nodes this one waits for
  WorkKind kind = WorkKind::compute;
  std::uint8_t stream = kNoStream;  ///< of a computation
  /// Of a send and its receive: where ranks have several NICs they take the one of this number, modulo how many.
  std::uint16_t lane = 0;
  std::uint8_t traffic_class = 0;  ///< of a message or collective; 0 is the least urgent
  std::uint8_t job = 0;            ///< 0: the scenario's; then those of traffic.background
};

/// Piece `i` of `pieces` of a striped message; they differ by at most a byte, and none is empty while pieces <= bytes.
inline std::uint64_t piece_bytes(std::uint64_t bytes, std::uint32_t i, std::uint32_t pieces) {
  return bytes / pieces + (i < bytes % pieces ? 1 : 0);
}

/// Ranks that act together, in the order of their positions in it.
struct RankGroup {
  std::vector<std::uint32_t> ranks;
};

/// One collective of a group; each member has one node that names it.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint64_t bytes = 0;  ///< 0 of a barrier only
  std::uint32_t group = 0;  ///< position in Workload::groups
  std::uint32_t root = 0;   ///< position in the group, of rooted kinds
};

/// An all-reduce, or a channel's part of it, in switches: each rank of the group has a node that names it.
struct Reduction {
  std::uint64_t bytes = 0;
  std::uint32_t group = 0;  ///< position in Workload::groups
  std::uint16_t lane = 0;   ///< of its nodes
};

/// Where a collective that was expanded begins and ends at one rank, for its times.
struct CollectiveSpan {
  std::uint32_t collective = 0;
  std::uint32_t start = kNoWork;  ///< node
  std::uint32_t end = kNoWork;    ///< node
};

/// Bytes leave the rank.
inline bool is_sent(const WorkNode& node) {
  return node.kind == WorkKind::send || node.kind == WorkKind::reduction;
}

struct Workload {
  std::string source;  ///< file or pattern, for messages
  std::string format;
  std::uint32_t ranks = 0;
  /// All ranks do what the nodes of rank 0 do, and only those are there: no sends or receives. A group holds its
  /// members 0, s, 2s, … (n - 1)s; rank r's group of that kind is r + (i - (r / s) % n) s for i = 0 … n - 1.
  bool same_on_all_ranks = false;
  std::uint32_t job_ranks = 0;  ///< ranks that the results of the job cover, from rank 0 on; 0: all
  std::vector<WorkNode> nodes;
  std::vector<std::uint32_t> dependents;  ///< nodes that wait for a node, one after another
  std::vector<RankGroup> groups;
  std::vector<Collective> collectives;
  std::vector<CollectiveSpan> spans;  ///< of collectives that were expanded
  std::vector<Reduction> reductions;  ///< in the order in which those of a group follow each other

  /// What ranks send: messages, and their parts of reductions.
  std::uint64_t sends() const {
    std::uint64_t n = 0;
    for (const WorkNode& node : nodes) n += is_sent(node) ? 1 : 0;
    return n;
  }
  std::uint64_t bytes() const {
    std::uint64_t n = 0;
    for (const WorkNode& node : nodes) n += is_sent(node) ? node.bytes : 0;
    return n;
  }
};

}  // namespace mrc
