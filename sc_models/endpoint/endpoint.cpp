#include "endpoint/endpoint.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "nic/packet_capture.h"

namespace mrc {
namespace {

TimePs ps(double ns) {
  return static_cast<TimePs>(ns * 1000.0 + 0.5);
}

}  // namespace

Endpoint::Endpoint(NicContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement)
    : nic_(nic),
      memory_(memory),
      network_(network),
      player_(nic, *this, memory, placement),
      probes_(nic),
      port_status_(nic),
      planes_(nic.config.nic.ports),
      busy_until_(planes_, 0),
      first_payload_bytes_(planes_, 0),
      wqe_ps_(ps(nic.config.host.doorbell_ns + nic.config.pcie.read_latency_mean_ns)),
      payload_ps_(ps(nic.config.pcie.read_latency_mean_ns + payload_read_extra_ns(nic.scenario.accelerator))),
      completion_ps_(ps(nic.config.pcie.write_latency_ns + nic.config.host.poll_ns)) {
  network_.attach(nic.node, *this, ps(nic.config.nic.port.mac_fec_latency_ns));
}

void Endpoint::set_darkness(const std::vector<PortDarkness>& darkness) {
  port_status_.set_darkness(darkness);
}

void Endpoint::start() {
  player_.start();
  arm();
}

// Work

void Endpoint::work_arrived(TimePs) {
  arm();
}

void Endpoint::post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs) {
  TimePs at = now + ps(nic_.config.host.post_ns) + wqe_ps_;
  if (request.bytes > nic_.config.nic.wqe_fetch.inline_bytes) at += payload_ps_;
  // Requests are taken in order, also a short one that does not wait for its payload.
  if (!starts_.empty()) at = std::max(at, starts_.back().at);
  starts_.push({at, qp, request});
}

void Endpoint::timer(TimePs now) {
  if (now != armed_at_) return;
  armed_at_ = kNever;
  while (!starts_.empty() && starts_.front().at <= now) {
    Qp& qp = nic_.qps[starts_.front().qp];
    qp.requestor->post(starts_.front().request, now);
    starts_.pop();
    follow_up(now, qp);
  }
  serve_deadlines(now);
  probes_.due(now, [&](Qp&, const Packet& packet) { send(now, packet.plane, packet); });
  if (port_status_.next() <= now) {
    port_status_.due(now, [&](Qp&, const Packet& packet) { send(now, packet.plane, packet); });
  }
  bool seen = false;
  while (!seen_.empty() && seen_.front().at <= now) {
    const Cqe cqe = seen_.front().cqe;
    seen_.pop();
    if (cqe.kind == Cqe::Kind::send) {
      player_.send_completed(now, cqe);
    } else {
      player_.receive_completed(now, cqe);
    }
    seen = true;
  }
  if (seen || player_.next_alarm() <= now) player_.step(now);
  pump(now);
  arm();
}

void Endpoint::arm() {
  TimePs next = player_.next_alarm();
  if (!starts_.empty()) next = std::min(next, starts_.front().at);
  if (!seen_.empty()) next = std::min(next, seen_.front().at);
  if (!deadlines_.empty()) next = std::min(next, deadlines_.front().at);
  next = std::min({next, probes_.next(), port_status_.next()});
  if (next >= armed_at_) return;
  armed_at_ = std::max(next, network_.now());
  network_.set_timer(armed_at_, nic_.node);
}

// Sending

void Endpoint::activate(Qp& qp) {
  if (qp.listed) return;
  qp.listed = true;
  ready_.push(nic_.index_of(qp));
}

void Endpoint::park(Qp& qp, SendGate gate) {
  qp.listed = false;
  ready_.pop();
  turn_bytes_ = 0;
  if (gate != SendGate::blocked_cwnd || qp.waits_for_window) return;
  qp.waits_for_window = true;
  qp.congestion->waiting.push_back(nic_.index_of(qp));
}

void Endpoint::port_free(TimePs now, std::uint32_t plane) {
  to_be_told_ &= ~(1U << plane);
  // What was said when it was last used may be late by a rounding, or by a rate that has changed since.
  busy_until_[plane] = std::min(busy_until_[plane], now);
  pump(now);
}

void Endpoint::pump(TimePs now) {
  if (ready_.empty()) return;
  std::uint32_t ports = 0;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) ports |= (busy_until_[plane] <= now ? 1U : 0U) << plane;
  ports &= nic_.ports_up;
  while (!ready_.empty() && ports != 0) {
    Qp& qp = nic_.qps[ready_.front()];
    const SendGate gate = qp.requestor->gate(now);
    if (gate != SendGate::ready) {
      park(qp, gate);
      continue;
    }
    const std::uint32_t port = send_data(now, qp, ports);
    if (port == 0) {
      // Nothing on these ports; the others will be free, and with fixed_time a skip ends.
      if (const TimePs skip_end = qp.paths->next_skip_end(); skip_end != kNever && skip_end < armed_at_) {
        armed_at_ = std::max(skip_end, now + 1);
        network_.set_timer(armed_at_, nic_.node);
      }
      break;
    }
    ports &= ~port;
    if (turn_bytes_ < nic_.config.nic.qp_scheduler.quantum_bytes) continue;
    turn_bytes_ = 0;
    ready_.push(ready_.front());
    ready_.pop();
  }
  if (ready_.empty()) return;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    const std::uint32_t bit = 1U << plane;
    if ((to_be_told_ & bit) != 0 || busy_until_[plane] <= now) continue;
    to_be_told_ |= bit;
    network_.notify_when_free(now, nic_.node, plane);
  }
}

std::uint32_t Endpoint::send_data(TimePs now, Qp& qp, std::uint32_t ports) {
  const EvIndex ev = qp.paths->select(ports, now);
  if (ev == kNoEv) return 0;
  const SendPlan plan = qp.requestor->take(now);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  packet = Packet{};
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.psn = plan.psn;
  packet.va = plan.va;
  packet.rkey = plan.rkey;
  packet.dma_length = plan.dma_length;
  packet.immediate = plan.immediate;
  packet.msn = plan.msn;
  packet.rqmsn = plan.rqmsn;
  packet.opcode = plan.opcode;
  packet.payload_bytes = plan.payload_bytes;
  packet.ack_request = plan.ack_request;
  packet.retransmission = plan.retransmission;
  packet.loss_cause = static_cast<std::uint8_t>(plan.lost_by);
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  packet.role = plan.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable;
  if (!protocol.trim_nack) packet.role = TrafficRole::no_trim;
  packet.timestamp_in_us = protocol.timestamp_in_us;
  packet.tx_timestamp = static_cast<std::uint16_t>(now / (packet.timestamp_in_us ? kPsPerUs : 128 * kPsPerNs));
  packet.ev = qp.paths->value(ev);
  packet.plane = qp.paths->plane(ev);
  packet.outer_dst = usid_carrier_of_ev(qp.route, packet.plane, packet.ev);
  qp.requestor->transmitted(packet.psn, ev, now);
  qp.data_sent_at = now;
  // A deadline that stands is not later than that of a packet sent after.
  if (qp.timer_at == kNever) {
    update_deadline(now, qp);
    arm();
  }
  NicCounters& counters = nic_.counters;
  ++counters.data_packets;
  counters.data_payload_bytes += plan.payload_bytes;
  if (plan.retransmission) {
    ++counters.retransmitted;
  } else {
    counters.first_payload_bytes += plan.payload_bytes;
    first_payload_bytes_[packet.plane] += plan.payload_bytes;
  }
  turn_bytes_ += std::max<std::uint32_t>(plan.payload_bytes, 1);
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, packet.plane, now, packet);
  const std::uint32_t plane = packet.plane;
  busy_until_[plane] = network_.send(now, nic_.node, plane, transit);
  return 1U << plane;
}

void Endpoint::send(TimePs now, std::uint32_t plane, const Packet& packet) {
  ++nic_.counters.control_packets;
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, plane, now, packet);
  const std::uint32_t transit = network_.new_transit();
  network_.packet_of(transit) = packet;
  busy_until_[plane] = network_.send(now, nic_.node, plane, transit);
}

void Endpoint::send_control(TimePs now, Qp& qp, Packet packet) {
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.role = TrafficRole::control;
  packet.has_timestamp = false;
  // With no way at all it is lost on the first port.
  const ReversePaths::Choice path = qp.reverse_paths->pick(nic_.ports_up);
  packet.ev = path.ev;
  packet.plane = path.plane;
  packet.outer_dst = usid_carrier_of_ev(qp.route, path.plane, path.ev);
  send(now, path.plane, packet);
}

// Receiving

void Endpoint::receive(TimePs now, std::uint32_t plane, const Packet& packet) {
  nic_.counters.received.add(packet);
  if (nic_.capture != nullptr) nic_.capture->record(nic_.node, plane, now, packet);
  if (packet.damage == Damage::corrupted) {
    ++nic_.counters.corrupted_received;
    return;
  }
  if (is_data(packet.opcode) || packet.opcode == Opcode::probe_request) {
    Qp* qp = nic_.find_qp(packet.destination_qp);
    if (qp == nullptr || !qp->responder) {
      ++nic_.counters.unknown_qp;
      return;
    }
    receive_data(now, *qp, packet);
  } else {
    receive_control(now, packet);
  }
  pump(now);
  arm();
}

void Endpoint::receive_data(TimePs now, Qp& qp, const Packet& packet) {
  if (packet.ecn == Ecn::ce) ++nic_.counters.ce_received;
  Responder& responder = *qp.responder;
  RxDecision decision;
  if (packet.opcode == Opcode::probe_request) {
    decision = responder.on_probe(packet, now);
  } else if (packet.damage == Damage::trimmed) {
    ++nic_.counters.trimmed_received;
    decision = responder.on_trimmed(packet, now);
  } else {
    decision = responder.accept(packet, {}, now);
  }
  if (decision.admitted && is_data(packet.opcode)) {
    if (const auto probe = probes_.data_received(now, qp)) send(now, probe->plane, *probe);
  }
  answer(now, qp, packet, decision);
  if (decision.nack == NackReason::unexp_event) fail_sender(now, qp);
  if (decision.place) {
    place(now, qp, packet, decision);
    return;
  }
  const bool duplicate =
      decision.outcome == PsnOutcome::duplicate_below || decision.outcome == PsnOutcome::duplicate_above;
  if (duplicate && packet.damage == Damage::none) ++nic_.counters.duplicates;
}

void Endpoint::answer(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision) {
  if (decision.nack != NackReason::none) {
    Packet nack;
    nack.opcode = Opcode::nack;
    nack.nack = qp.responder->build_nack(packet, decision.nack);
    nack.psn = nack.nack.nack_psn;
    ++nic_.counters.nacks_sent;
    send_control(now, qp, nack);
  }
  if (decision.repeat_transport_ack) {
    Packet ack;
    ack.opcode = Opcode::transport_ack;
    ack.transport_ack = qp.responder->repeat_transport_ack();
    ack.psn = qp.responder->cack_psn();
    send_control(now, qp, ack);
  }
  if (!decision.sack) return;
  Packet sack;
  sack.opcode = Opcode::sack;
  sack.sack = qp.responder->build_sack(decision.trigger, now);
  sack.psn = sack.sack.cack_psn;
  ++nic_.counters.sacks_sent;
  send_control(now, qp, sack);
}

void Endpoint::place(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision) {
  memory_.write(packet.va, packet.payload, packet.payload_bytes);
  ++nic_.counters.delivered;
  nic_.counters.delivered_bytes += packet.payload_bytes;
  if (decision.closes_messages == 0) return;
  if (const auto acknowledgement = qp.responder->writes_issued(decision.closes_messages)) {
    Packet ack;
    ack.opcode = Opcode::transport_ack;
    ack.transport_ack = *acknowledgement;
    ack.psn = qp.responder->cack_psn();
    send_control(now, qp, ack);
  }
  ReceiveCompletion received;
  while (qp.responder->pop_receive(received)) {
    seen_.push({now + completion_ps_,
                {Cqe::Kind::receive, nic_.index_of(qp), 0, received.immediate, CompletionStatus::success}});
  }
}

void Endpoint::receive_control(TimePs now, const Packet& packet) {
  const bool port_status = packet.endpoint.op == EndpointOp::port_status_update;
  if (packet.opcode == Opcode::endpoint_response) {
    if (port_status) {
      port_status_.update_answered(now, packet);
    } else {
      probes_.response(packet);
    }
    return;
  }
  if (packet.opcode == Opcode::endpoint_request) {
    const auto from =
        std::find_if(nic_.qps.begin(), nic_.qps.end(), [&](const Qp& qp) { return qp.peer == packet.source_node; });
    if (from == nic_.qps.end()) return;
    if (port_status) port_status_.update_received(now, packet);
    const Packet reply = probes_.reply(*from, packet);
    send(now, reply.plane, reply);
    return;
  }
  Qp* qp = nic_.find_qp(packet.destination_qp);
  if (qp == nullptr || !qp->requestor) {
    ++nic_.counters.unknown_qp;
    return;
  }
  if (packet.opcode == Opcode::sack) {
    if (packet.sack.probe) probes_.answered(static_cast<std::uint16_t>(packet.sack.ack_psn_offset));
    const EvIndex ev = qp->paths->find(packet.sack.entropy);
    if (ev != kNoEv && packet.sack.mark == PathMark::none) {
      qp->reverse_paths->confirm(qp->paths->plane(ev), packet.sack.entropy);
    }
    qp->requestor->on_sack(packet.sack, now);
  } else if (packet.opcode == Opcode::nack) {
    qp->requestor->on_nack(packet.nack, now);
  } else if (packet.opcode == Opcode::transport_ack) {
    qp->requestor->on_transport_ack(packet.transport_ack, now);
  }
  follow_up(now, *qp);
}

void Endpoint::fail_sender(TimePs now, Qp& qp) {
  AckResult freed;
  if (qp.requestor && qp.requestor->modify(QpState::error, freed) == ModifyStatus::changed) follow_up(now, qp);
}

void Endpoint::follow_up(TimePs now, Qp& qp) {
  if (qp.requestor->state() == QpState::error && qp.responder) qp.responder->modify(QpState::error);
  mrc::Completion done;
  while (qp.requestor->pop_completion(done)) {
    seen_.push({now + completion_ps_, {Cqe::Kind::send, nic_.index_of(qp), done.id, 0, done.status}});
  }
  activate(qp);
  for (const std::uint32_t index : qp.congestion->waiting) {
    nic_.qps[index].waits_for_window = false;
    activate(nic_.qps[index]);
  }
  qp.congestion->waiting.clear();
  update_deadline(now, qp);
  probes_.update(nic_.index_of(qp), now);
}

// Timers

void Endpoint::update_deadline(TimePs now, Qp& qp) {
  const TimePs deadline = std::max(qp.requestor->next_deadline(), now);
  if (deadline == kNever || deadline >= qp.timer_at) return;
  qp.timer_at = deadline;
  deadlines_.push_back({deadline, nic_.index_of(qp)});
  std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>{});
}

void Endpoint::serve_deadlines(TimePs now) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>{});
    const Deadline due = deadlines_.back();
    deadlines_.pop_back();
    Qp& qp = nic_.qps[due.qp];
    if (qp.timer_at != due.at) continue;
    qp.timer_at = kNever;
    if (qp.requestor->next_deadline() <= now) {
      qp.requestor->on_deadline(now);
      follow_up(now, qp);
    }
    update_deadline(now, qp);
  }
}

}  // namespace mrc
