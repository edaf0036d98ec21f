// One rank's part in a run on several: what it owns, and what it has to tell the others at the end of a window.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/crossing.h"
#include "fabric/partition.h"
#include "pcie/host_memory.h"
#include "split/ranks.h"

namespace mrc {

struct Misplaced {
  PlacementQuestion question;
  PlacementTally placed;
};

struct Split {
  Split(Ranks& all_ranks, Partition who_owns)
      : ranks(all_ranks),
        rank(all_ranks.rank()),
        partition(std::move(who_owns)),
        out(all_ranks.size()),
        out_bytes(all_ranks.size()),
        in_bytes(all_ranks.size()) {}

  bool owns(NodeId node) const { return partition.of_node[node] == rank; }
  bool is_first() const { return rank == 0; }
  /// Names of the buffers of a detailed NIC of another rank; none of other nodes, or where the result is not made.
  const std::vector<std::string>& buffers_of(NodeId node) const {
    static const std::vector<std::string> none;
    const auto known = buffers_elsewhere.find(node);
    return known == buffers_elsewhere.end() ? none : known->second;
  }

  Ranks& ranks;
  std::uint32_t rank;
  Partition partition;
  TimePs lookahead_ps = 0;
  TimePs earliest = 0;  ///< nothing happens anywhere before
  std::vector<Crossings> out;
  std::vector<Bytes> out_bytes;
  std::vector<Bytes> in_bytes;
  std::vector<PlacementQuestion> questions;                      ///< of players here about receivers elsewhere
  std::vector<Misplaced> misplaced;                              ///< found here for senders elsewhere
  std::map<NodeId, std::vector<std::string>> buffers_elsewhere;  ///< names, see buffers_of()
};

}  // namespace mrc
