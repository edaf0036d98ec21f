// QPs and registered memory between the nodes that send to each other.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "simulation/model.h"

namespace mrc {

/// Bytes of the longest message of each flow of a node.
using LongestSends = std::map<std::pair<NodeId, FlowKey>, std::uint64_t>;

/// Makes the QPs of all pairs of nodes that exchange messages.
LongestSends connect_nodes(Model& model);
/// Memory at both ends for the messages of each direction. The nodes have their devices.
void build_channels(Model& model, const LongestSends& longest);

}  // namespace mrc
