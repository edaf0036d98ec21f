// What crosses between ranks while a run goes on: packets with the time at which the far end of their link acts on
// them, pauses of PFC, and questions about what was placed at the receiver. Values only.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/transit.h"
#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// A packet on a link whose ends belong to two ranks. Its payload pointer is good at the rank it came from only, where
/// alone bytes are looked at (detailed NICs are all on one rank).
struct PacketCrossing {
  TimePs at = 0;  ///< of its arrival event
  std::uint32_t link = 0;
  std::uint32_t bytes = 0;
  Ipv6Address carrier;
  TimePs last_bit = 0;
  FabricClass queue = FabricClass::data;
  std::uint8_t plane = 0;
  std::uint8_t hop_limit = 0;
  Packet packet;
};

/// PFC: the switch at the far end of `link` wants its sender to pause, or to go on.
struct PauseCrossing {
  TimePs at = 0;
  std::uint32_t link = 0;
  std::uint32_t service = 0;  ///< payload of the service event
};

/// A send completed at `at`: was every byte of it placed exactly once? Answered by the receiver's rank at the end of
/// the window, when the slot cannot have been written again, since that takes at least a window's length.
struct PlacementQuestion {
  TimePs at = 0;
  NodeId sender = 0;
  NodeId receiver = 0;
  std::uint64_t destination = 0;
  std::uint32_t bytes = 0;
  std::uint32_t work = 0;  ///< node of work
};

/// Of one rank to another, in one window.
struct Crossings {
  std::vector<PacketCrossing> packets;
  std::vector<PauseCrossing> pauses;
  std::vector<PlacementQuestion> questions;
};

}  // namespace mrc
