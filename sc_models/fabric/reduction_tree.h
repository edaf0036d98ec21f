// The switches of a plane that add for a group of NICs: the T0s that have some of them below, and where there are
// several one T1 above them, or a T1 in each pod and a T2. Trees of successive numbers take the T1s in turn, and the
// T2s of a T1 when all T1s have had their turn, so that the trees of several groups are on different links.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology.h"
#include "mrc/types.h"

namespace mrc {

struct ReductionTreeSwitch {
  std::uint32_t at = 0;                      ///< switch
  std::uint32_t up = Topology::kNoLink;      ///< to its parent; none at the root
  std::vector<std::uint32_t> from_children;  ///< links over which their packets come
  std::vector<std::uint32_t> to_children;    ///< and those back, in the same order
};

/// The root comes last. `nics` are different.
std::vector<ReductionTreeSwitch> make_reduction_tree(const Topology& topology, const std::vector<NodeId>& nics,
                                                     std::uint32_t plane, std::uint32_t number);

}  // namespace mrc
