#include "transports/mrc/mrc_endpoint.h"

#include <bit>
#include <cassert>

#include "node/packet_capture.h"

namespace mrc {

MrcEndpoint::MrcEndpoint(NodeContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement)
    : LightNode(nic, memory, network, placement),
      class_turns_(nic.scenario.traffic.classes, nic.config.nic.qp_scheduler.quantum_bytes),
      above_(nic.scenario.traffic.classes.count - 1),
      limits_(nic.scenario.traffic.tenants),
      planes_(nic.config.nic.ports),
      probes_(nic),
      port_status_(nic),
      path_drain_(nic) {
  for (const Qp& qp : nic.qps) parts_.push_back(parts_of(qp));
}

LightNode::QpParts MrcEndpoint::parts_of(const Qp& qp) {
  return {&qp, qp.sender ? &requestor_of(qp) : nullptr, qp.receiver ? &responder_of(qp) : nullptr, qp.paths,
          qp.congestion != nullptr ? qp.congestion->control.get() : nullptr};
}

// Ahead of time

void MrcEndpoint::expect_packet(const Packet& packet, unsigned depth) const {
  const std::uint64_t index = std::uint64_t{packet.destination_qp} - kFirstQpNumber;
  if (index >= parts_.size()) return;
  const QpParts& parts = parts_[index];
  const bool data = is_data(packet.opcode);
  if (depth == 0) {
    prefetch(&parts);
    prefetch(&sending_, 2 * kCacheLineBytes);
    prefetch(&nic_.counters, data ? sizeof(PacketSum) : sizeof(NodeCounters));
    return;
  }
  prefetch(parts.qp, sizeof(Qp));
  if (data) {
    prefetch(parts.receiving, sizeof(Responder));
    return;
  }
  prefetch(parts.sending, sizeof(NicRequestor));
  prefetch(parts.paths, 3 * kCacheLineBytes);
  prefetch(parts.congestion, 4 * kCacheLineBytes);
}

void MrcEndpoint::expect_port_free(unsigned depth) const {
  if (depth == 0) {
    prefetch(&sending_, 2 * kCacheLineBytes);
    prefetch(parts_.data());
    prefetch(&nic_.counters, 3 * kCacheLineBytes);
    return;
  }
  if (sending_.turn.ready.empty()) return;
  const QpParts& parts = parts_[sending_.turn.ready.front()];
  prefetch(parts.qp, sizeof(Qp));
  prefetch(parts.sending, 6 * kCacheLineBytes);
  prefetch(parts.paths, 3 * kCacheLineBytes);
  prefetch(parts.congestion, kCacheLineBytes);
}

// Work and time

void MrcEndpoint::take_up(TimePs now, Qp& qp, const WorkRequest& request) {
  requestor_of(qp).post(request, now);
  follow_up(now, qp);
}

void MrcEndpoint::deadline(TimePs now, Qp& qp) {
  requestor_of(qp).on_deadline(now);
  follow_up(now, qp);
}

void MrcEndpoint::serve_timers(TimePs now) {
  const auto send_on = [&](Qp&, const Packet& packet) { send(now, packet.plane, packet); };
  probes_.due(now, send_on);
  if (port_status_.next() <= now) port_status_.due(now, send_on);
  path_drain_.due(now);
  if (limits_.any()) limits_.due(now, [&](std::uint32_t qp) { turn_of(nic_.qps[qp]).ready.push(qp); });
}

// Sending

void MrcEndpoint::activate(Qp& qp) {
  if (qp.listed) return;
  qp.listed = true;
  turn_of(qp).ready.push(nic_.index_of(qp));
}

MrcEndpoint::Turn* MrcEndpoint::next_turn_of_classes() {
  std::uint32_t ready = sending_.turn.ready.empty() ? 0 : 1;
  for (std::size_t i = 0; i < above_.size(); ++i) ready |= (above_[i].ready.empty() ? 0U : 2U) << i;
  const std::uint32_t next = class_turns_.pick(class_credit_, ready, ready);
  if (next == ClassTurns::kNone) return nullptr;
  return next == 0 ? &sending_.turn : &above_[next - 1];
}

bool MrcEndpoint::is_held(TimePs now, Turn& turn, const Qp& qp) {
  if (limits_.free_at(qp.tenant) <= now) return false;
  // It stays listed: it is ready but for the limit.
  turn.ready.pop();
  turn.bytes = 0;
  limits_.wait(qp.tenant, nic_.index_of(qp));
  return true;
}

void MrcEndpoint::park(Qp& qp, SendGate gate) {
  qp.listed = false;
  Turn& turn = turn_of(qp);
  turn.ready.pop();
  turn.bytes = 0;
  if (gate != SendGate::idle) parked_ = nic_.index_of(qp);
  if (gate != SendGate::blocked_cwnd || qp.waits_for_window) return;
  qp.waits_for_window = true;
  qp.congestion->waiting.push_back(nic_.index_of(qp));
}

void MrcEndpoint::port_free(TimePs now, std::uint32_t plane) {
  sending_.to_be_told &= ~(1U << plane);
  // What was said when it was last used may be late by a rounding, or by a rate that has changed since.
  sending_.busy_until[plane] = std::min(sending_.busy_until[plane], now);
  pump_ports(now);
  give_port_to_reductions(now, plane);
}

std::uint8_t MrcEndpoint::sending_waits_for(TimePs now) {
  if (next_turn() != nullptr) return LightIdle::path;
  if (limits_.any() && limits_.next() != kNever) return LightIdle::rate_limit;
  if (parked_ == kNoQp) return LightIdle::acknowledgement;
  Qp& qp = nic_.qps[parked_];
  return gate_cause(requestor_of(qp).gate(now), qp);
}

bool MrcEndpoint::pump(TimePs now) {
  if (next_turn() == nullptr) return false;
  std::uint32_t free = 0;
  // Once or more per packet: the loop's own instructions count.
  const TimePs* const busy_until = sending_.busy_until.data();
#pragma GCC unroll 8
  for (std::uint32_t plane = 0; plane < planes_; ++plane) free |= (busy_until[plane] <= now ? 1U : 0U) << plane;
  std::uint32_t ports = free & nic_.ports_up;
  while (ports != 0) {
    Turn* const turn = next_turn();
    if (turn == nullptr) break;
    Qp& qp = nic_.qps[turn->ready.front()];
    if (limits_.any() && is_held(now, *turn, qp)) continue;
    const SendGate gate = requestor_of(qp).gate(now);
    if (gate != SendGate::ready) {
      park(qp, gate);
      continue;
    }
    const std::uint32_t port = send_data(now, qp, ports);
    if (port == 0) {
      // Nothing on these ports; the others will be free, and with fixed_time a skip ends.
      if (const TimePs skip_end = qp.paths->next_skip_end(); skip_end != kNever) arm(std::max(skip_end, now + 1));
      break;
    }
    ports &= ~port;
    free &= ~port;
    if (turn->bytes < nic_.config.nic.qp_scheduler.quantum_bytes) continue;
    turn->bytes = 0;
    turn->ready.push(turn->ready.front());
    turn->ready.pop();
  }
  if (limits_.any()) arm(limits_.next());
  if (next_turn() == nullptr) return false;
  const std::uint32_t all = planes_ >= 32 ? ~0U : (1U << planes_) - 1;
  for (std::uint32_t busy = all & ~free & ~sending_.to_be_told; busy != 0; busy &= busy - 1) {
    const auto plane = static_cast<std::uint32_t>(std::countr_zero(busy));
    sending_.to_be_told |= 1U << plane;
    network_.notify_when_free(now, nic_.node, plane);
  }
  return free == 0;
}

std::uint32_t MrcEndpoint::send_data(TimePs now, Qp& qp, std::uint32_t ports) {
  const EvIndex ev = qp.paths->select(ports, now);
  if (ev == kNoEv) return 0;
  const SendPlan plan = requestor_of(qp).take(now);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  fill(packet, plan);
  packet.traffic_class = qp.traffic_class & (kMostTrafficClasses - 1);
  packet.without_srh = qp.without_srh;
  Turn& turn = turn_of(qp);
  const std::uint32_t bytes = std::max<std::uint32_t>(plan.payload_bytes, 1);
  turn.bytes += bytes;
  class_turns_.charge(class_credit_, qp.traffic_class, bytes);
  if (limits_.any()) limits_.charge(now, qp.tenant, bytes);
  // As the detailed NIC's segmenter: no more of this QP for a while, so nothing else would ask for a SACK.
  const auto& scheduler = nic_.config.nic.qp_scheduler;
  const bool turn_ends = turn.bytes >= scheduler.quantum_bytes && turn.ready.size() > 1;
  if (turn_ends && scheduler.ack_request_at_turn_end) packet.ack_request = true;
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  packet.role = plan.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable;
  if (!protocol.trim_nack) packet.role = TrafficRole::no_trim;
  packet.timestamp_in_us = protocol.timestamp_in_us;
  packet.tx_timestamp = timestamp_units(now, packet.timestamp_in_us);
  packet.ev = qp.paths->value(ev);
  packet.plane = qp.paths->plane(ev);
  packet.outer_dst = usid_carrier_of_ev(qp.route, packet.plane, packet.ev, protocol.ev_layout);
  if (Associations* associations = nic_.associations.get(); associations != nullptr) {
    packet.packet_number = associations->number(associations->outgoing(nic_.index_of(qp)));
    ++nic_.counters.encryption.encrypted;
  }
  requestor_of(qp).transmitted(packet.psn, ev, now);
  // A deadline that is set is not later than that of a packet sent after it.
  if (qp.timer_at == kNever) {
    update_deadline(now, qp);
    arm();
  }
  count_sent(plan, packet.plane);
  if (attends_) [[unlikely]]
    attend(now, packet, plan);
  const std::uint32_t plane = packet.plane;
  sending_.busy_until[plane] = network_.send(now, nic_.node, plane, transit);
  idle_busy(plane, sending_.busy_until[plane]);
  let_reductions_follow(now, plane);
  return 1U << plane;
}

void MrcEndpoint::attend(TimePs now, Packet& packet, const SendPlan& plan) {
  // As the packet leaves: software does not touch the bytes before the message is complete, retransmissions included.
  if (serves_programs()) packet.payload = payload_of(plan);
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, packet.plane, now, packet);
}

void MrcEndpoint::send(TimePs now, std::uint32_t plane, const Packet& control) {
  ++nic_.counters.control_packets;
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  packet = control;
  if (Associations* associations = nic_.associations.get(); associations != nullptr && associations->covers(packet)) {
    packet.packet_number = associations->number(associations->outgoing(packet));
    ++nic_.counters.encryption.encrypted;
  }
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, plane, now, packet);
  idle_before(now);
  sending_.busy_until[plane] = network_.send(now, nic_.node, plane, transit);
  idle_busy(plane, sending_.busy_until[plane]);
}

void MrcEndpoint::send_control(TimePs now, Qp& qp, Packet packet) {
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.role = TrafficRole::control;
  packet.has_timestamp = false;
  packet.without_srh = qp.without_srh;
  // With no way at all it is lost on the first port.
  const ReversePaths::Choice path = qp.reverse_paths->pick(nic_.ports_up);
  packet.ev = path.ev;
  packet.plane = path.plane;
  packet.outer_dst = usid_carrier_of_ev(qp.route, path.plane, path.ev, nic_.scenario.protocol.ev_layout);
  send(now, path.plane, packet);
}

// Receiving

void MrcEndpoint::receive(TimePs now, std::uint32_t plane, const Packet& packet) {
  nic_.counters.received.add(packet);
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, plane, now, packet);
  if (nic_.associations != nullptr && nic_.associations->covers(packet)) {
    if (!decrypt(packet)) return;
  } else if (packet.damage == Damage::corrupted) {
    ++nic_.counters.corrupted_received;
    return;
  }
  if (is_data(packet.opcode) || packet.opcode == Opcode::probe_request) {
    Qp* qp = nic_.find_qp(packet.destination_qp);
    if (qp == nullptr || !qp->receiver) {
      ++nic_.counters.unknown_qp;
      return;
    }
    const bool nearer = receive_data(now, *qp, packet);
    pump_ports(now);
    if (nearer) arm();
    assert(next_wake() >= armed_at());
    return;
  }
  receive_control(now, packet);
  pump_ports(now);
  arm();
}

bool MrcEndpoint::decrypt(const Packet& packet) {
  EncryptionCounters& counted = nic_.counters.encryption;
  if (packet.damage == Damage::corrupted) {
    ++counted.tag_failures;
    return false;
  }
  return counted.admit(nic_.associations->admit(nic_.associations->incoming(packet), packet));
}

bool MrcEndpoint::receive_data(TimePs now, Qp& qp, const Packet& packet) {
  if (packet.ecn == Ecn::ce) ++nic_.counters.ce_received;
  Responder& responder = responder_of(qp);
  RxDecision decision;
  if (packet.opcode == Opcode::probe_request) {
    decision = responder.on_probe(packet, now);
  } else if (packet.damage == Damage::trimmed) {
    ++nic_.counters.trimmed_received;
    decision = responder.on_trimmed(packet, now);
  } else {
    decision = responder.accept(packet, {}, now);
  }
  bool nearer = false;
  if (decision.admitted && is_data(packet.opcode)) {
    if (const auto probe = probes_.data_received(now, qp, packet, decision.is_duplicate())) {
      send(now, probe->plane, *probe);
      nearer = true;
    }
  }
  answer(now, qp, packet, decision);
  if (decision.nack == NackReason::unexp_event) {
    fail_sender(now, qp);
    nearer = true;
  }
  if (decision.place) {
    place(packet);
    if (decision.closes_messages == 0) return nearer;
    close_messages(now, qp, decision);
    return true;
  }
  if (decision.is_duplicate() && packet.damage == Damage::none) ++nic_.counters.duplicates;
  return nearer;
}

void MrcEndpoint::answer(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision) {
  if (decision.nack != NackReason::none) {
    Packet nack;
    nack.opcode = Opcode::nack;
    nack.nack = responder_of(qp).build_nack(packet, decision.nack);
    nack.psn = nack.nack.nack_psn;
    ++nic_.counters.nacks_sent;
    send_control(now, qp, nack);
  }
  if (decision.repeat_transport_ack) {
    Packet ack;
    ack.opcode = Opcode::transport_ack;
    ack.transport_ack = responder_of(qp).repeat_transport_ack();
    ack.psn = responder_of(qp).cack_psn();
    send_control(now, qp, ack);
  }
  if (!decision.sack) return;
  Packet sack;
  sack.opcode = Opcode::sack;
  sack.sack = responder_of(qp).build_sack(decision.trigger, now);
  sack.psn = sack.sack.cack_psn;
  ++nic_.counters.sacks_sent;
  send_control(now, qp, sack);
}

void MrcEndpoint::close_messages(TimePs now, Qp& qp, const RxDecision& decision) {
  if (const auto acknowledgement = responder_of(qp).writes_issued(decision.closes_messages)) {
    Packet ack;
    ack.opcode = Opcode::transport_ack;
    ack.transport_ack = *acknowledgement;
    ack.psn = responder_of(qp).cack_psn();
    send_control(now, qp, ack);
  }
  complete_receives(now, qp, responder_of(qp));
}

void MrcEndpoint::receive_endpoint_operation(TimePs now, const Packet& packet) {
  const bool port_status = packet.endpoint.op == EndpointOp::port_status_update;
  if (packet.opcode == Opcode::endpoint_response) {
    if (port_status) {
      port_status_.update_answered(now, packet);
    } else {
      probes_.response(packet);
    }
    return;
  }
  const auto from =
      std::find_if(nic_.qps.begin(), nic_.qps.end(), [&](const Qp& qp) { return qp.peer == packet.source_node; });
  const bool known = from != nic_.qps.end();
  // Where programs drive nodes, a probe for software may come from a node without a QP to this one.
  if (!known && (port_status || !serves_programs())) return;
  if (port_status) port_status_.update_received(now, packet);
  const UsidTemplate route = known ? from->route : network_.topology().route(nic_.node, packet.source_node);
  const Packet reply = probes_.reply(packet.source_node, route, packet);
  send(now, reply.plane, reply);
}

void MrcEndpoint::receive_control(TimePs now, const Packet& packet) {
  if (packet.opcode == Opcode::endpoint_response || packet.opcode == Opcode::endpoint_request) {
    receive_endpoint_operation(now, packet);
    return;
  }
  Qp* qp = nic_.find_qp(packet.destination_qp);
  if (qp == nullptr || !qp->sender) {
    ++nic_.counters.unknown_qp;
    return;
  }
  if (packet.opcode == Opcode::sack) {
    if (packet.sack.probe) probes_.answered(static_cast<std::uint16_t>(packet.sack.ack_psn_offset));
    const EvIndex ev = qp->paths->find(packet.sack.entropy);
    if (ev != kNoEv && packet.sack.mark == PathMark::none) {
      qp->reverse_paths->confirm(qp->paths->plane(ev), packet.sack.entropy);
    }
    requestor_of(*qp).on_sack(packet.sack, now);
  } else if (packet.opcode == Opcode::nack) {
    requestor_of(*qp).on_nack(packet.nack, now);
  } else if (packet.opcode == Opcode::transport_ack) {
    requestor_of(*qp).on_transport_ack(packet.transport_ack, now);
  }
  follow_up(now, *qp);
}

void MrcEndpoint::fail_sender(TimePs now, Qp& qp) {
  AckResult freed;
  if (qp.sender && requestor_of(qp).modify(QpState::error, freed) == ModifyStatus::changed) follow_up(now, qp);
}

void MrcEndpoint::fail(TimePs now, Qp& qp) {
  idle_before(now);
  fail_sender(now, qp);
  idle_after(now, false);
  // Other QPs may have got its window.
  arm(now);
}

void MrcEndpoint::follow_up(TimePs now, Qp& qp) {
  if (requestor_of(qp).state() == QpState::error && qp.receiver) responder_of(qp).modify(QpState::error);
  complete_sends(now, qp, requestor_of(qp));
  activate(qp);
  for (const std::uint32_t index : qp.congestion->waiting) {
    nic_.qps[index].waits_for_window = false;
    activate(nic_.qps[index]);
  }
  qp.congestion->waiting.clear();
  update_deadline(now, qp);
  probes_.update(nic_.index_of(qp), now);
}

}  // namespace mrc
