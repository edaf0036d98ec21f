#include "transports/rocev2/rocev2_endpoint.h"

#include <algorithm>

#include "mrc/rocev2/ecmp_hash.h"
#include "mrc/rocev2/rc_packet.h"
#include "node/packet_capture.h"

namespace mrc {

Rocev2Endpoint::Rocev2Endpoint(NodeContext& nic, std::vector<RcHalves>& halves, HostMemory& memory, Network& network,
                               const WorkPlacement& placement)
    : LightNode(nic, memory, network, placement),
      halves_(halves),
      flows_(nic.qps.size()),
      ports_(nic.config.nic.ports) {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Qp& qp = nic.qps[i];
    flows_[i].source_port = rc_source_port(qp.number, qp.peer_number);
    const FlowTuple tuple{.source = {0, nic.node}, .destination = {0, qp.peer}, .source_port = flows_[i].source_port};
    // The NIC bonds its ports by a hash of its own.
    flows_[i].plane = static_cast<std::uint8_t>(
        ecmp_path(tuple, mix64(nic.scenario.seed ^ 0xB0D0), static_cast<std::uint32_t>(ports_.size())));
  }
}

void Rocev2Endpoint::add_counts(TransportCounts& sum) const {
  TransportCounts::Rocev2& counts = sum.rocev2;
  counts.cnps_sent += cnps_sent_;
  for (const RcHalves& halves : halves_) {
    if (halves.requestor) counts.timeouts += halves.requestor->counters().timeouts;
    if (!halves.responder) continue;
    counts.naks_sent += halves.responder->counters().naks;
    counts.out_of_sequence += halves.responder->counters().out_of_sequence;
  }
}

// Work and time

void Rocev2Endpoint::take_up(TimePs now, Qp& qp, const WorkRequest& request) {
  halves(qp).requestor->post(request, now);
  follow_up(now, qp);
}

void Rocev2Endpoint::deadline(TimePs now, Qp& qp) {
  halves(qp).requestor->on_deadline(now);
  follow_up(now, qp);
}

void Rocev2Endpoint::serve_timers(TimePs now) {
  while (paced_.next() <= now) {
    const std::uint32_t qp = paced_.pop().qp;
    flows_[qp].paced = false;
    activate(nic_.qps[qp]);
  }
}

// Sending

void Rocev2Endpoint::activate(Qp& qp) {
  const std::uint32_t index = nic_.index_of(qp);
  if (qp.listed || flows_[index].paced) return;
  qp.listed = true;
  ports_[flows_[index].plane].ready.push(index);
}

/// The first of the ready QPs may not send; its next ACK lists it again, or its rate's time does.
void Rocev2Endpoint::park(TimePs now, Port& port, Qp& qp) {
  qp.listed = false;
  port.ready.pop();
  port.turn_bytes = 0;
  const std::uint32_t index = nic_.index_of(qp);
  const TimePs next = halves(qp).requestor->next_send_time();
  if (halves(qp).requestor->gate(now) != SendGate::blocked_cwnd || next <= now) return;
  flows_[index].paced = true;
  paced_.push({next, index});
}

void Rocev2Endpoint::port_free(TimePs now, std::uint32_t plane) {
  ports_[plane].to_be_told = false;
  // What was said when it was last used may be late by a rounding, or by a rate that has changed since.
  ports_[plane].busy_until = std::min(ports_[plane].busy_until, now);
  pump(now, plane);
  give_port_to_reductions(now, plane);
  arm();
}

void Rocev2Endpoint::pump_ports(TimePs now) {
  for (std::uint32_t plane = 0; plane < ports_.size(); ++plane) pump(now, plane);
}

std::uint8_t Rocev2Endpoint::sending_waits_for(TimePs) {
  bool ready = false;
  for (std::uint32_t plane = 0; plane < ports_.size(); ++plane) {
    if (ports_[plane].ready.empty()) continue;
    if (network_.data_paused(nic_.node, plane)) return LightIdle::pause;
    ready = true;
  }
  // A flow keeps to its port, whether others are free or not.
  if (ready) return LightIdle::one_path;
  return paced_.next() != kNever ? LightIdle::rate : LightIdle::acknowledgement;
}

void Rocev2Endpoint::pump(TimePs now, std::uint32_t plane) {
  idle_before(now);
  serve(now, plane);
  idle_after(now, false);
}

void Rocev2Endpoint::serve(TimePs now, std::uint32_t plane) {
  Port& port = ports_[plane];
  while (!port.ready.empty() && port.busy_until <= now && !network_.data_paused(nic_.node, plane)) {
    Qp& qp = nic_.qps[port.ready.front()];
    if (halves(qp).requestor->gate(now) != SendGate::ready) {
      park(now, port, qp);
      continue;
    }
    send_data(now, qp);
    if (port.turn_bytes < nic_.config.nic.qp_scheduler.quantum_bytes) continue;
    port.turn_bytes = 0;
    port.ready.push(port.ready.front());
    port.ready.pop();
  }
  if (port.ready.empty() || port.to_be_told || port.busy_until <= now) return;
  port.to_be_told = true;
  network_.notify_when_free(now, nic_.node, plane);
}

void Rocev2Endpoint::send_data(TimePs now, Qp& qp) {
  const SendPlan plan = halves(qp).requestor->take(now);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  fill(packet, plan);
  packet.role = TrafficRole::no_trim;
  const std::uint32_t plane = flows_[nic_.index_of(qp)].plane;
  ports_[plane].turn_bytes += std::max<std::uint32_t>(plan.payload_bytes, 1);
  count_sent(plan, plane);
  send(now, qp, transit);
  let_reductions_follow(now, plane);
  update_deadline(now, qp);
}

void Rocev2Endpoint::send_control(TimePs now, Qp& qp, Packet packet) {
  packet.role = TrafficRole::control;
  ++nic_.counters.control_packets;
  const std::uint32_t transit = network_.new_transit();
  network_.packet_of(transit) = packet;
  send(now, qp, transit);
}

void Rocev2Endpoint::send(TimePs now, Qp& qp, std::uint32_t transit) {
  const Flow& flow = flows_[nic_.index_of(qp)];
  Packet& packet = network_.packet_of(transit);
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.destination_qp = qp.peer_number;
  packet.has_timestamp = false;
  packet.ev = flow.source_port;
  packet.plane = flow.plane;
  idle_before(now);
  ports_[flow.plane].busy_until = network_.send(now, nic_.node, flow.plane, transit);
  idle_busy(flow.plane, ports_[flow.plane].busy_until);
}

// Receiving

void Rocev2Endpoint::receive(TimePs now, std::uint32_t, const Packet& packet) {
  nic_.counters.received.add(packet);
  if (packet.damage == Damage::corrupted) {
    ++nic_.counters.corrupted_received;
    return;
  }
  Qp* qp = nic_.find_qp(packet.destination_qp);
  const bool for_requestor = !is_data(packet.opcode);
  if (qp == nullptr || (for_requestor ? !halves(*qp).requestor : !halves(*qp).responder)) {
    ++nic_.counters.unknown_qp;
    return;
  }
  if (packet.opcode == kCnp) {
    if (nic_.scenario.rocev2.dcqcn) halves(*qp).requestor->on_cnp(now);
    update_deadline(now, *qp);
  } else if (for_requestor) {
    halves(*qp).requestor->on_ack(packet.psn, packet.transport_ack, now);
    follow_up(now, *qp);
  } else {
    receive_data(now, *qp, packet);
  }
  pump(now, flows_[nic_.index_of(*qp)].plane);
  arm();
}

void Rocev2Endpoint::receive_data(TimePs now, Qp& qp, const Packet& packet) {
  if (packet.ecn == Ecn::ce) ++nic_.counters.ce_received;
  if (nic_.scenario.rocev2.dcqcn && halves(qp).notifications->on_packet(packet.ecn, now)) {
    Packet cnp;
    cnp.opcode = kCnp;
    ++cnps_sent_;
    send_control(now, qp, cnp);
  }
  RcResponder& responder = *halves(qp).responder;
  const RcResponderCounters before = responder.counters();
  const RcRxDecision decision = responder.accept(packet, {}, now);
  nic_.counters.duplicates += responder.counters().duplicates - before.duplicates;
  if (decision.place) place(packet);
  if (decision.respond) {
    Packet answer;
    answer.opcode = Opcode::transport_ack;
    answer.psn = decision.answer_psn;
    answer.transport_ack = decision.answer;
    send_control(now, qp, answer);
  }
  complete_receives(now, qp, responder);
}

void Rocev2Endpoint::follow_up(TimePs now, Qp& qp) {
  complete_sends(now, qp, *halves(qp).requestor);
  activate(qp);
  update_deadline(now, qp);
}

}  // namespace mrc
