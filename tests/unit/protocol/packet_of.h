// Packets as a requestor's plan and a test's wishes make them.
#pragma once

#include "mrc/packet.h"
#include "mrc/tx/requestor.h"

namespace mrc {

inline Packet packet_of(const SendPlan& plan, Ev ev = 0) {
  Packet packet;
  packet.opcode = plan.opcode;
  packet.psn = plan.psn;
  packet.msn = plan.msn;
  packet.rqmsn = plan.rqmsn;
  packet.va = plan.va;
  packet.payload_bytes = plan.payload_bytes;
  packet.dma_length = plan.dma_length;
  packet.rkey = plan.rkey;
  packet.immediate = plan.immediate;
  packet.ack_request = plan.ack_request;
  packet.retransmission = plan.retransmission;
  packet.ev = ev;
  return packet;
}

}  // namespace mrc
