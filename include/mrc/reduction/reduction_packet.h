// The packet of a reduction, as a NIC and a switch send it.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc {

struct ReductionPacket {
  ReductionFields fields;
  std::uint32_t payload_bytes = 0;
  /// A NIC of the tree, also in the packet of a switch: the headers are those of this NIC's transport.
  NodeId source_node = 0;
  std::uint8_t plane = 0;
  std::uint8_t traffic_class = 0;
  bool retransmission = false;
};

/// A data packet that no switch trims or marks. A packet down to a NIC or switch also needs its destination node.
inline Packet make_packet(const ReductionPacket& of) {
  Packet packet;
  packet.is_reduction = true;
  packet.reduction = of.fields;
  packet.opcode = Opcode::write_middle;
  packet.role = TrafficRole::no_trim;
  packet.ecn = Ecn::not_ect;
  packet.payload_bytes = of.payload_bytes;
  packet.traffic_class = of.traffic_class & (kMostTrafficClasses - 1);
  packet.psn = static_cast<Psn>(of.fields.sequence & kPsnMask);
  packet.plane = of.plane;
  packet.source_node = of.source_node;
  packet.destination_qp = of.fields.tree;
  packet.retransmission = of.retransmission;
  return packet;
}

}  // namespace mrc
