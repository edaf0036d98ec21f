#include "endpoint/rocev2_endpoint.h"

#include <algorithm>
#include <functional>

#include "mrc/rocev2/ecmp_hash.h"
#include "mrc/rocev2/rc_packet.h"
#include "nic/packet_capture.h"

namespace mrc {
namespace {

TimePs ps(double ns) {
  return static_cast<TimePs>(ns * 1000.0 + 0.5);
}

}  // namespace

Rocev2Endpoint::Rocev2Endpoint(NicContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement)
    : nic_(nic),
      memory_(memory),
      network_(network),
      player_(nic, *this, memory, placement),
      flows_(nic.qps.size()),
      ports_(nic.config.nic.ports),
      first_payload_bytes_(ports_.size(), 0),
      wqe_ps_(ps(nic.config.host.doorbell_ns + nic.config.pcie.read_latency_mean_ns)),
      payload_ps_(ps(nic.config.pcie.read_latency_mean_ns + payload_read_extra_ns(nic.scenario.accelerator))),
      completion_ps_(ps(nic.config.pcie.write_latency_ns + nic.config.host.poll_ns)) {
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const Qp& qp = nic.qps[i];
    flows_[i].source_port = rc_source_port(qp.number, qp.peer_number);
    const FlowTuple tuple{.source = {0, nic.node}, .destination = {0, qp.peer}, .source_port = flows_[i].source_port};
    // The NIC bonds its ports by a hash of its own.
    flows_[i].plane = static_cast<std::uint8_t>(
        ecmp_path(tuple, mix64(nic.scenario.seed ^ 0xB0D0), static_cast<std::uint32_t>(ports_.size())));
  }
  network_.attach(nic.node, *this, ps(nic.config.nic.port.mac_fec_latency_ns));
}

void Rocev2Endpoint::start() {
  player_.start();
  arm();
}

Rocev2Counts Rocev2Endpoint::counts() const {
  Rocev2Counts sum{.cnps_sent = cnps_sent_};
  for (const Qp& qp : nic_.qps) {
    if (qp.rc.requestor) sum.timeouts += qp.rc.requestor->counters().timeouts;
    if (!qp.rc.responder) continue;
    sum.naks_sent += qp.rc.responder->counters().naks;
    sum.out_of_sequence += qp.rc.responder->counters().out_of_sequence;
  }
  return sum;
}

// Work and time

void Rocev2Endpoint::work_arrived(TimePs) {
  arm();
}

void Rocev2Endpoint::post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs) {
  TimePs at = now + ps(nic_.config.host.post_ns) + wqe_ps_;
  if (request.bytes > nic_.config.nic.wqe_fetch.inline_bytes) at += payload_ps_;
  if (!starts_.empty()) at = std::max(at, starts_.back().at);
  starts_.push({at, qp, request});
}

void Rocev2Endpoint::timer(TimePs now) {
  if (now != armed_at_) return;
  armed_at_ = kNever;
  while (!starts_.empty() && starts_.front().at <= now) {
    Qp& qp = nic_.qps[starts_.front().qp];
    qp.rc.requestor->post(starts_.front().request, now);
    starts_.pop();
    follow_up(now, qp);
  }
  serve_deadlines(now);
  while (!paced_.empty() && paced_.front().at <= now) {
    const std::uint32_t qp = pop(paced_).qp;
    flows_[qp].paced = false;
    activate(nic_.qps[qp]);
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
  for (std::uint32_t plane = 0; plane < ports_.size(); ++plane) pump(now, plane);
  arm();
}

void Rocev2Endpoint::arm() {
  TimePs next = player_.next_alarm();
  if (!starts_.empty()) next = std::min(next, starts_.front().at);
  if (!seen_.empty()) next = std::min(next, seen_.front().at);
  if (!deadlines_.empty()) next = std::min(next, deadlines_.front().at);
  if (!paced_.empty()) next = std::min(next, paced_.front().at);
  if (next >= armed_at_) return;
  armed_at_ = std::max(next, network_.now());
  network_.set_timer(armed_at_, nic_.node);
}

void Rocev2Endpoint::push(std::vector<Due>& heap, Due due) {
  heap.push_back(due);
  std::push_heap(heap.begin(), heap.end(), std::greater<>{});
}

Rocev2Endpoint::Due Rocev2Endpoint::pop(std::vector<Due>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
  const Due due = heap.back();
  heap.pop_back();
  return due;
}

void Rocev2Endpoint::update_deadline(TimePs now, Qp& qp) {
  const TimePs deadline = std::max(qp.rc.requestor->next_deadline(), now);
  if (deadline == kNever || deadline >= qp.timer_at) return;
  qp.timer_at = deadline;
  push(deadlines_, {deadline, nic_.index_of(qp)});
}

void Rocev2Endpoint::serve_deadlines(TimePs now) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const Due due = pop(deadlines_);
    Qp& qp = nic_.qps[due.qp];
    if (qp.timer_at != due.at) continue;
    qp.timer_at = kNever;
    if (qp.rc.requestor->next_deadline() <= now) {
      qp.rc.requestor->on_deadline(now);
      follow_up(now, qp);
    }
    update_deadline(now, qp);
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
  const TimePs next = qp.rc.requestor->next_send_time();
  if (qp.rc.requestor->gate(now) != SendGate::blocked_cwnd || next <= now) return;
  flows_[index].paced = true;
  push(paced_, {next, index});
}

void Rocev2Endpoint::port_free(TimePs now, std::uint32_t plane) {
  ports_[plane].to_be_told = false;
  pump(now, plane);
  arm();
}

void Rocev2Endpoint::pump(TimePs now, std::uint32_t plane) {
  Port& port = ports_[plane];
  while (!port.ready.empty() && port.busy_until <= now && !network_.data_paused(nic_.node, plane)) {
    Qp& qp = nic_.qps[port.ready.front()];
    if (qp.rc.requestor->gate(now) != SendGate::ready) {
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
  const SendPlan plan = qp.rc.requestor->take(now);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  packet = Packet{};
  packet.psn = plan.psn;
  packet.va = plan.va;
  packet.rkey = plan.rkey;
  packet.dma_length = plan.dma_length;
  packet.immediate = plan.immediate;
  packet.msn = plan.msn;
  packet.opcode = plan.opcode;
  packet.payload_bytes = plan.payload_bytes;
  packet.ack_request = plan.ack_request;
  packet.retransmission = plan.retransmission;
  packet.role = TrafficRole::no_trim;
  Port& port = ports_[flows_[nic_.index_of(qp)].plane];
  port.turn_bytes += std::max<std::uint32_t>(plan.payload_bytes, 1);
  NicCounters& counters = nic_.counters;
  ++counters.data_packets;
  counters.data_payload_bytes += plan.payload_bytes;
  if (plan.retransmission) {
    ++counters.retransmitted;
  } else {
    counters.first_payload_bytes += plan.payload_bytes;
    first_payload_bytes_[flows_[nic_.index_of(qp)].plane] += plan.payload_bytes;
  }
  send(now, qp, transit);
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
  ports_[flow.plane].busy_until = network_.send(now, nic_.node, flow.plane, transit);
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
  if (qp == nullptr || (for_requestor ? !qp->rc.requestor : !qp->rc.responder)) {
    ++nic_.counters.unknown_qp;
    return;
  }
  if (packet.opcode == kCnp) {
    if (nic_.scenario.rocev2.dcqcn) qp->rc.requestor->on_cnp(now);
    update_deadline(now, *qp);
  } else if (for_requestor) {
    qp->rc.requestor->on_ack(packet.psn, packet.transport_ack, now);
    follow_up(now, *qp);
  } else {
    receive_data(now, *qp, packet);
  }
  pump(now, flows_[nic_.index_of(*qp)].plane);
  arm();
}

void Rocev2Endpoint::receive_data(TimePs now, Qp& qp, const Packet& packet) {
  if (packet.ecn == Ecn::ce) ++nic_.counters.ce_received;
  if (nic_.scenario.rocev2.dcqcn && qp.rc.notifications->on_packet(packet.ecn, now)) {
    Packet cnp;
    cnp.opcode = kCnp;
    ++cnps_sent_;
    send_control(now, qp, cnp);
  }
  RcResponder& responder = *qp.rc.responder;
  const RcResponderCounters before = responder.counters();
  const RcRxDecision decision = responder.accept(packet, {}, now);
  nic_.counters.duplicates += responder.counters().duplicates - before.duplicates;
  if (decision.place) {
    memory_.write(packet.va, packet.payload, packet.payload_bytes);
    ++nic_.counters.delivered;
    nic_.counters.delivered_bytes += packet.payload_bytes;
  }
  if (decision.respond) {
    Packet answer;
    answer.opcode = Opcode::transport_ack;
    answer.psn = decision.answer_psn;
    answer.transport_ack = decision.answer;
    send_control(now, qp, answer);
  }
  ReceiveCompletion received;
  while (responder.pop_receive(received)) {
    seen_.push({now + completion_ps_,
                {Cqe::Kind::receive, nic_.index_of(qp), 0, received.immediate, CompletionStatus::success}});
  }
}

void Rocev2Endpoint::follow_up(TimePs now, Qp& qp) {
  mrc::Completion done;
  while (qp.rc.requestor->pop_completion(done)) {
    seen_.push({now + completion_ps_, {Cqe::Kind::send, nic_.index_of(qp), done.id, 0, done.status}});
  }
  activate(qp);
  update_deadline(now, qp);
}

}  // namespace mrc
