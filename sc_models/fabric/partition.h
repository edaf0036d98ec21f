// Which rank carries which part of the fabric. NICs and switches have one owner each; a link whose ends have two is
// cut, and its delay is time that ranks may run without hearing of each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology.h"
#include "mrc/types.h"

namespace mrc {

struct Partition {
  enum class Cut : std::uint8_t {
    t0_groups,  ///< NICs and their T0s together, switches above spread over the ranks in proportion
    planes,     ///< whole planes, and NICs in blocks
  };
  Cut cut = Cut::t0_groups;
  std::vector<std::uint32_t> of_node;    ///< rank
  std::vector<std::uint32_t> of_switch;  ///< rank
  double crossings = 0;                  ///< expected of a data packet on its way, between 0 and its links

  std::uint32_t from(const LinkInfo& link) const {
    return link.first_hop() ? of_node[link.node] : of_switch[link.from];
  }
  std::uint32_t to(const LinkInfo& link) const { return link.last_hop() ? of_node[link.node] : of_switch[link.to]; }
};

/// What decides where to cut.
struct PartitionNeeds {
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> bytes;  ///< sent from a node to another
  std::vector<bool> detailed;                                ///< by node: its T0s are on its rank
  std::vector<bool> first;                                   ///< by node: has to be on rank 0
  std::vector<NodeId> siblings;                              ///< by node, the first of those that share a rank with it
};

/// The cut that fewer packets cross; on a tie that by T0 groups, whose links are longer. Throws std::invalid_argument
/// with one line where neither gives every one of `ranks` something to do.
Partition make_partition(const Topology& topology, const PartitionNeeds& needs, std::uint32_t ranks);

}  // namespace mrc
