#include "transports/uet/uet_endpoint.h"

#include <algorithm>
#include <bit>

#include "mrc/random.h"
#include "mrc/uet/uet_packet.h"

namespace mrc {

UetEndpoint::UetEndpoint(NodeContext& nic, std::vector<UetHalves>& halves, const ProtocolConfig& protocol,
                         HostMemory& memory, Network& network, const WorkPlacement& placement,
                         std::uint64_t idle_credit_bytes)
    : LightNode(nic, memory, network, placement),
      halves_(halves),
      protocol_(protocol),
      pacer_(nic.qps.size(), nic.scenario.uet.credit_packets * protocol.mtu_bytes,
             nic.scenario.uet.credit_rate * nic.config.nic.port_gbps * nic.config.nic.ports, idle_credit_bytes),
      planes_(nic.config.nic.ports) {}

void UetEndpoint::add_counts(TransportCounts& sum) const {
  sum.uet.grants += grants_sent_;
  sum.uet.credit_requests += requests_sent_;
  for (const UetHalves& of : halves_) {
    if (of.requestor) sum.uet.timeouts += of.requestor->counters().timeouts;
  }
}

// Work and time

void UetEndpoint::take_up(TimePs now, Qp& qp, const WorkRequest& request) {
  UetHalves& of = halves(qp);
  if (of.credit && wanted_bytes(of) == 0 && of.requestor->messages_pending() == 0) of.credit->begin();
  of.unsent_bytes += request.bytes;
  of.requestor->post(request, now);
  follow_up(now, qp);
}

TimePs UetEndpoint::next_deadline(Qp& qp) {
  const UetHalves& of = halves(qp);
  return std::min(of.requestor->next_deadline(), of.request_at);
}

void UetEndpoint::deadline(TimePs now, Qp& qp) {
  UetHalves& of = halves(qp);
  if (of.requestor->next_deadline() <= now) of.requestor->on_deadline(now);
  if (of.request_at <= now) request_credit(now, qp);
  follow_up(now, qp);
}

void UetEndpoint::serve_timers(TimePs now) {
  while (pacer_.next() <= now) {
    const CreditPacer::Grant given = pacer_.take(now);
    grant(now, given.flow, given.granted_bytes);
  }
}

// Credit

std::uint64_t UetEndpoint::wanted_bytes(const UetHalves& of) const {
  const RequestorCounters& counted = of.requestor->counters();
  const std::uint64_t lost = counted.gap_losses + counted.nack_losses + counted.timeout_losses;
  const std::uint64_t settled = counted.retransmissions + counted.spurious_losses;
  return of.unsent_bytes + (lost > settled ? lost - settled : 0) * protocol_.mtu_bytes;
}

std::uint64_t UetEndpoint::credit_target(const Qp& qp, const UetHalves& of) const {
  std::uint64_t wanted = wanted_bytes(of);
  // What its own window does not let it send, a sender does not ask for.
  wanted = std::min(wanted, qp.congestion->control->cwnd_bytes() + protocol_.mtu_bytes);
  const auto flows = static_cast<std::uint32_t>(ready_.size());
  return of.credit->target(wanted, flows, protocol_.mtu_bytes, nic_.scenario.uet.credit_request_floor_packets);
}

void UetEndpoint::request_credit(TimePs now, Qp& qp) {
  UetHalves& of = halves(qp);
  of.request_at = kNever;
  if (!lacks_credit(of) || wanted_bytes(of) == 0) return;
  of.request_at = now + timeout_ps();
  Packet request;
  request.opcode = kUetCreditRequest;
  of.credit->stop_speculating();
  set_credit(request, credit_target(qp, of));
  ++requests_sent_;
  send_control(now, qp, request);
}

void UetEndpoint::grant(TimePs now, std::uint32_t flow, std::uint64_t granted_bytes) {
  Packet packet;
  packet.opcode = kUetCredit;
  set_credit(packet, granted_bytes);
  ++grants_sent_;
  send_control(now, nic_.qps[flow], packet);
}

// Sending

void UetEndpoint::activate(Qp& qp) {
  if (qp.listed) return;
  qp.listed = true;
  ready_.push(nic_.index_of(qp));
}

void UetEndpoint::park(TimePs now, Qp& qp, SendGate gate) {
  qp.listed = false;
  ready_.pop();
  turn_bytes_ = 0;
  if (gate != SendGate::idle) parked_ = nic_.index_of(qp);
  UetHalves& of = halves(qp);
  if (gate != SendGate::ready || of.request_at != kNever) return;
  // A grant, or the packet that asked for it, may be lost.
  of.request_at = now + timeout_ps();
  update_deadline(now, qp);
  arm();
}

void UetEndpoint::port_free(TimePs now, std::uint32_t plane) {
  to_be_told_ &= ~(1U << plane);
  // What was said when it was last used may be late by a rounding, or by a rate that has changed since.
  busy_until_[plane] = std::min(busy_until_[plane], now);
  pump_ports(now);
  give_port_to_reductions(now, plane);
}

void UetEndpoint::pump_ports(TimePs now) {
  idle_before(now);
  const bool all_busy = pump(now);
  idle_after(now, all_busy);
}

std::uint8_t UetEndpoint::sending_waits_for(TimePs now) {
  if (!ready_.empty()) return LightIdle::path;
  if (parked_ == kNoQp) return LightIdle::acknowledgement;
  Qp& qp = nic_.qps[parked_];
  const SendGate gate = halves(qp).requestor->gate(now);
  if (gate == SendGate::ready && lacks_credit(halves(qp))) return LightIdle::credit;
  return gate_cause(gate, qp);
}

bool UetEndpoint::pump(TimePs now) {
  std::uint32_t free = 0;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) free |= (busy_until_[plane] <= now ? 1U : 0U) << plane;
  std::uint32_t ports = free & nic_.ports_up;
  while (!ready_.empty() && ports != 0) {
    Qp& qp = nic_.qps[ready_.front()];
    UetHalves& of = halves(qp);
    const SendGate gate = of.requestor->gate(now);
    if (gate != SendGate::ready || lacks_credit(of)) {
      park(now, qp, gate);
      continue;
    }
    const std::uint32_t port = send_data(now, qp, ports);
    if (port == 0) break;
    ports &= ~port;
    free &= ~port;
    if (turn_bytes_ < nic_.config.nic.qp_scheduler.quantum_bytes) continue;
    turn_bytes_ = 0;
    ready_.push(ready_.front());
    ready_.pop();
  }
  if (ready_.empty()) return false;
  const std::uint32_t all = planes_ >= 32 ? ~0U : (1U << planes_) - 1;
  for (std::uint32_t busy = all & ~free & ~to_be_told_; busy != 0; busy &= busy - 1) {
    const auto plane = static_cast<std::uint32_t>(std::countr_zero(busy));
    to_be_told_ |= 1U << plane;
    network_.notify_when_free(now, nic_.node, plane);
  }
  return free == 0;
}

std::uint32_t UetEndpoint::send_data(TimePs now, Qp& qp, std::uint32_t ports) {
  UetHalves& of = halves(qp);
  const EvIndex ev = of.paths->select(ports, now);
  if (ev == kNoEv) return 0;
  const SendPlan plan = of.requestor->take(now);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  fill(packet, plan);
  turn_bytes_ += std::max<std::uint32_t>(plan.payload_bytes, 1);
  if (!plan.retransmission) of.unsent_bytes -= plan.payload_bytes;
  if (of.credit) spend_credit(qp, of, plan, packet);
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.role = plan.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable;
  if (!protocol_.trim_nack) packet.role = TrafficRole::no_trim;
  packet.has_timestamp = false;
  packet.ev = of.paths->value(ev);
  packet.plane = of.paths->plane(ev);
  of.requestor->transmitted(packet.psn, ev, now);
  if (qp.timer_at == kNever) {
    update_deadline(now, qp);
    arm();
  }
  count_sent(plan, packet.plane);
  const std::uint32_t plane = packet.plane;
  busy_until_[plane] = network_.send(now, nic_.node, plane, transit);
  idle_busy(plane, busy_until_[plane]);
  let_reductions_follow(now, plane);
  return 1U << plane;
}

void UetEndpoint::spend_credit(Qp& qp, UetHalves& of, const SendPlan& plan, Packet& packet) {
  of.credit->spend(plan.payload_bytes);
  set_credit(packet, credit_target(qp, of));
  // Nothing else would make the receiver answer before the next grant.
  if (!of.credit->may_send()) packet.ack_request = true;
}

void UetEndpoint::send_control(TimePs now, Qp& qp, Packet packet) {
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.role = TrafficRole::control;
  packet.has_timestamp = false;
  // Each on another path, so that a dead one does not take all answers of a PDC.
  const std::uint32_t turn = control_turn_++;
  packet.ev = static_cast<Ev>(mix64(std::uint64_t{nic_.node} << 32 | turn));
  packet.plane = static_cast<std::uint8_t>(turn % planes_);
  ++nic_.counters.control_packets;
  const std::uint32_t transit = network_.new_transit();
  network_.packet_of(transit) = packet;
  idle_before(now);
  busy_until_[packet.plane] = network_.send(now, nic_.node, packet.plane, transit);
  idle_busy(packet.plane, busy_until_[packet.plane]);
}

// Receiving

void UetEndpoint::receive(TimePs now, std::uint32_t, const Packet& packet) {
  nic_.counters.received.add(packet);
  if (packet.damage == Damage::corrupted) {
    ++nic_.counters.corrupted_received;
    return;
  }
  Qp* qp = nic_.find_qp(packet.destination_qp);
  const bool for_responder = is_data(packet.opcode) || packet.opcode == kUetCreditRequest;
  if (qp == nullptr || (for_responder ? !halves(*qp).responder : !halves(*qp).requestor)) {
    ++nic_.counters.unknown_qp;
    return;
  }
  if (for_responder) {
    receive_data(now, *qp, packet);
  } else {
    receive_control(now, *qp, packet);
  }
  pump_ports(now);
  arm();
}

void UetEndpoint::receive_data(TimePs now, Qp& qp, const Packet& packet) {
  const std::uint32_t index = nic_.index_of(qp);
  if (nic_.scenario.uet.congestion != UetCongestion::nscc) {
    pacer_.ask(index, credit_of(packet, pacer_.target_bytes(index)), now);
    // Its sender may have lost a grant: what was granted is said once more.
    if (packet.opcode == kUetCreditRequest) return grant(now, index, pacer_.granted_bytes(index));
  }
  if (packet.ecn == Ecn::ce) ++nic_.counters.ce_received;
  Responder& responder = *halves(qp).responder;
  RxDecision decision;
  if (packet.damage == Damage::trimmed) {
    ++nic_.counters.trimmed_received;
    decision = responder.on_trimmed(packet, now);
  } else {
    decision = responder.accept(packet, {}, now);
  }
  if (decision.nack != NackReason::none) {
    Packet nack;
    nack.opcode = Opcode::nack;
    nack.nack = responder.build_nack(packet, decision.nack);
    nack.psn = nack.nack.nack_psn;
    ++nic_.counters.nacks_sent;
    send_control(now, qp, nack);
    if (nic_.scenario.uet.congestion != UetCongestion::nscc) pacer_.refused(index, packet.payload_bytes, now);
  }
  if (decision.place) {
    place(packet);
    responder.writes_issued(decision.closes_messages);
    // The response to a message is in an ACK, so the end of a message makes one due.
    if (decision.closes_messages > 0) responder.decide_sack(packet, decision, true);
  } else if (decision.is_duplicate() && packet.damage == Damage::none) {
    ++nic_.counters.duplicates;
  }
  if (decision.sack) acknowledge(now, qp, decision);
  complete_receives(now, qp, responder);
  // Writes need no posted receives: what one took is given back.
  responder.post_receive(protocol_.receive_queue_depth - responder.receives_posted());
}

void UetEndpoint::acknowledge(TimePs now, Qp& qp, const RxDecision& decision) {
  Responder& responder = *halves(qp).responder;
  Packet ack;
  ack.opcode = Opcode::sack;
  ack.sack = responder.build_sack(decision.trigger, now);
  ack.psn = ack.sack.cack_psn;
  // The SES response: messages that are complete.
  ack.immediate = responder.repeat_transport_ack().msn;
  ++nic_.counters.sacks_sent;
  send_control(now, qp, ack);
}

void UetEndpoint::receive_control(TimePs now, Qp& qp, const Packet& packet) {
  UetHalves& of = halves(qp);
  const bool ends_unasked = packet.opcode == Opcode::nack || nic_.scenario.uet.answer_ends_unasked_credit;
  if (of.credit && ends_unasked) of.credit->stop_speculating();
  if (packet.opcode == Opcode::sack) {
    of.requestor->on_sack(packet.sack, now);
    of.requestor->on_transport_ack({.msn = packet.immediate}, now);
  } else if (packet.opcode == Opcode::nack) {
    of.requestor->on_nack(packet.nack, now);
  } else if (packet.opcode == kUetCredit && of.credit) {
    of.credit->granted(credit_of(packet, of.credit->granted_bytes()));
    if (of.credit->may_send()) of.request_at = kNever;
  }
  follow_up(now, qp);
}

void UetEndpoint::follow_up(TimePs now, Qp& qp) {
  complete_sends(now, qp, *halves(qp).requestor);
  activate(qp);
  update_deadline(now, qp);
}

}  // namespace mrc
