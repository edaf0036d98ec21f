#include "engine/recorder.h"

namespace mrc {

PacketTag PacketTag::of(const Packet& packet) {
  PacketTag tag;
  tag.source = packet.source_node;
  tag.destination = packet.destination_node;
  tag.destination_qp = packet.destination_qp;
  tag.psn = packet.psn;
  tag.ev = packet.ev;
  tag.payload_bytes = packet.payload_bytes;
  tag.opcode = packet.opcode;
  tag.plane = packet.plane;
  tag.loss_cause = packet.loss_cause;
  tag.damage = packet.damage;
  tag.retransmission = packet.retransmission;
  switch (packet.opcode) {
    case Opcode::sack:
      tag.sack_bitmap = packet.sack.sack_bitmap;
      tag.sack_offset = packet.sack.sack_offset;
      tag.salt = static_cast<std::uint16_t>(packet.sack.tx_timestamp * 31U + packet.sack.rcvd_bytes * 7U +
                                            static_cast<std::uint16_t>(packet.sack.ack_psn_offset));
      break;
    case Opcode::nack:
      tag.nack = packet.nack.reason;
      tag.salt = packet.nack.tx_timestamp;
      break;
    case Opcode::transport_ack:
      tag.salt = static_cast<std::uint16_t>(packet.transport_ack.msn);
      break;
    case Opcode::probe_request:
      tag.salt = packet.probe.probe_id;
      break;
    case Opcode::endpoint_request:
    case Opcode::endpoint_response:
      tag.salt = packet.endpoint.request_id;
      break;
    default:
      break;
  }
  return tag;
}

void Recorder::add(const Record& record) {
  records_.push_back(record);
}

void Recorder::level(std::uint32_t object, TimePs time, std::uint64_t change) {
  add({.time = time, .value = change, .object = object, .packet = {}});
}

void Recorder::value(std::uint32_t object, TimePs time, std::uint64_t now_holds) {
  add({.time = time, .value = now_holds, .object = object, .kind = Record::Kind::value, .packet = {}});
}

void Recorder::stepped(TimePs now) {
  for (const Poll& poll : polls_) poll(now);
}

}  // namespace mrc
