// Probes as packets, and when a QP owes one: the reliability probe of an EV (a QP's, answered by a SACK), the EV probe
// for control packets (a node's, answered by an ENDPOINT_RESPONSE), and that response.
#pragma once

#include <cstdint>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/srv6_usid.h"
#include "mrc/types.h"

namespace mrc {

/// Destination QP of endpoint operations (specification Table 7-6).
inline constexpr QpNumber kEndpointQp = 2;

/// Who probes whom, and the way there.
struct ProbePath {
  NodeId source = 0;
  NodeId destination = 0;
  const UsidTemplate* route = nullptr;
  Ev ev = 0;
  std::uint8_t plane = 0;
};

/// What all packets of this file share.
inline Packet probe_header(const ProbePath& path, const ProtocolConfig& config, TimePs now) {
  Packet packet;
  packet.source_node = path.source;
  packet.destination_node = path.destination;
  packet.destination_qp = kEndpointQp;
  packet.ev = path.ev;
  packet.plane = path.plane;
  packet.role = TrafficRole::no_trim;
  packet.timestamp_in_us = config.timestamp_in_us;
  packet.tx_timestamp = timestamp_units(now, config.timestamp_in_us);
  packet.outer_dst = usid_carrier_of_ev(*path.route, path.plane, path.ev, config.ev_layout);
  return packet;
}

/// Reliability probe number `id` to `peer_qp`: whether an EV gets through.
inline Packet reliability_probe(const ProbePath& path, QpNumber peer_qp, std::uint16_t id, const ProtocolConfig& config,
                                TimePs now) {
  Packet packet = probe_header(path, config, now);
  packet.opcode = Opcode::probe_request;
  packet.destination_qp = peer_qp;
  packet.probe.probe_id = id;
  return packet;
}

/// EV probe number `id`: whether an EV serves for control packets of its plane.
inline Packet ev_probe(const ProbePath& path, std::uint16_t id, const ProtocolConfig& config, TimePs now) {
  Packet packet = probe_header(path, config, now);
  packet.opcode = Opcode::endpoint_request;
  packet.psn = id;
  packet.endpoint = {.port_status_mask = 0, .request_id = id, .op = EndpointOp::ev_probe};
  return packet;
}

/// Answers an ENDPOINT_REQUEST on its own EV, always as control (specification 7.4.7), with its timestamp.
inline Packet endpoint_response(const ProbePath& path, const Packet& request, const ProtocolConfig& config) {
  Packet packet = probe_header(path, config, 0);
  packet.opcode = Opcode::endpoint_response;
  packet.role = TrafficRole::control;
  packet.psn = request.endpoint.request_id;
  packet.tx_timestamp = request.tx_timestamp;
  packet.endpoint = request.endpoint;
  return packet;
}

/// "For each RTT in which a QP receives data but sends none, one EV probe" (paper 2.4): when a QP probes.
struct EvProbeTurn {
  TimePs next = 0;                      ///< not before
  std::uint64_t received = ~0ULL >> 1;  ///< bytes since the last turn; the first data is enough for the first
  std::uint32_t repeats = 0;            ///< how often a probe without an answer is followed by another

  /// `bytes` of data have arrived. True if the round trip of the last probe is over; for nearly every packet it is not.
  bool is_due(std::uint32_t bytes, TimePs now) {
    received += bytes;
    return now >= next;
  }
};

/// True if a data packet that has arrived owes a probe. Precondition: turn.is_due(). `sends`: the QP has work of its
/// own, so that SACKs tell it of paths ("while a QP is active inbound only"). A duplicate always owes one: the answer
/// to the first copy may have been lost on a reverse path that is dead. That bytes have to arrive between two probes is
/// an assumption: in a large incast every packet would cause a probe and its answer.
inline bool owes_ev_probe(EvProbeTurn& turn, bool duplicate, bool sends, const ProtocolConfig& config,
                          TimePs round_trip, TimePs now) {
  if (!duplicate && turn.received < config.ev_probe_bytes) return false;
  turn.next = now + round_trip;
  turn.received = 0;
  if (duplicate) {
    // The sender's timeouts get longer and longer: its next duplicate may be far away.
    turn.repeats = config.ev_probe_repeats;
    return true;
  }
  return !sends;
}

/// An EV probe had no answer: true if another one follows.
inline bool repeats_ev_probe(EvProbeTurn& turn) {
  if (turn.repeats == 0) return false;
  --turn.repeats;
  return true;
}

}  // namespace mrc
