#include "endpoint/light_node.h"

#include <algorithm>

namespace mrc {
LightNode::LightNode(NodeContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement)
    : nic_(nic),
      network_(network),
      memory_(memory),
      first_payload_bytes_(nic.config.nic.ports, 0),
      wqe_ps_(ps_from_ns(nic.config.host.doorbell_ns + nic.config.pcie.read_latency_mean_ns)),
      payload_ps_(ps_from_ns(nic.config.pcie.read_latency_mean_ns + payload_read_extra_ns(nic.scenario.accelerator))),
      completion_ps_(ps_from_ns(nic.config.pcie.write_latency_ns + nic.config.host.poll_ns)),
      player_(nic, *this, memory, placement) {
  network_.attach(nic.node, *this,
                  ps_from_ns(nic.config.nic.port.mac_fec_latency_ns + mac_added_ns(nic.scenario.fabric)),
                  nic.qps.size());
  // NICs of one rank start each other's work.
  if (placement.nics_per_rank > 1) network_.keep_order_of_time();
}

void LightNode::start() {
  attends_ = nic_.capture != nullptr || serves_programs();
  if (attends_) network_.keep_order_of_time();
  player_.start();
  arm();
}

void LightNode::post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) {
  first_work_at(first_doorbell);
  ++under_way_;
  TimePs at = now + ps_from_ns(nic_.config.host.post_ns) + wqe_ps_;
  if (request.bytes > nic_.config.nic.wqe_fetch.inline_bytes) at += payload_ps_;
  // Requests are taken in order, also a short one that does not wait for its payload.
  if (!starts_.empty()) at = std::max(at, starts_.back().at);
  starts_.push({at, qp, request});
}

void LightNode::first_work_at(TimePs now) {
  if (!idle_ || idle_->started()) return;
  idle_->start(now);
  watch_ports(now);
  use_before_ = use_of_ports(now);
}

void LightNode::timer(TimePs now) {
  if (now != armed_at_) return;
  armed_at_ = kNever;
  idle_before(now);
  while (!starts_.empty() && starts_.front().at <= now) {
    const Start start = starts_.front();
    starts_.pop();
    take_up(now, nic_.qps[start.qp], start.request);
  }
  while (!to_reduce_.empty() && to_reduce_.front().at <= now) {
    const std::uint32_t work = to_reduce_.front().work;
    to_reduce_.pop();
    reductions_->begin(now, work);
  }
  serve_deadlines(now);
  serve_timers(now);
  if (reductions_ != nullptr) reductions_->serve_timers(now);
  bool seen = false;
  while (!seen_.empty() && seen_.front().at <= now) {
    const Cqe cqe = seen_.front().cqe;
    seen_.pop();
    if (cqe.kind == Cqe::Kind::send) {
      --under_way_;
      player_.send_completed(now, cqe);
    } else {
      player_.receive_completed(now, cqe);
    }
    seen = true;
  }
  while (!reduced_.empty() && reduced_.front().at <= now) {
    --under_way_;
    player_.reduction_completed(now, reduced_.front().work);
    reduced_.pop();
    seen = true;
  }
  if (seen || player_.next_alarm() <= now) player_.step(now);
  pump_ports(now);
  arm();
}

// Programs

void LightNode::serve_programs() {
  to_be_seen_ = &for_programs_;
}

void LightNode::post_from_program(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) {
  idle_before(now);
  post(now, qp, request, first_doorbell);
  idle_after(now, false);
  arm();
}

Cqe LightNode::take_completion(TimePs now) {
  const Cqe cqe = for_programs_.front().cqe;
  for_programs_.pop();
  if (cqe.kind == Cqe::Kind::receive) return cqe;
  idle_before(now);
  --under_way_;
  idle_after(now, false);
  return cqe;
}

const std::byte* LightNode::payload_of(const SendPlan& plan) const {
  return memory_.data(plan.local_address, plan.payload_bytes);
}

// Reductions in switches

void LightNode::reduce(TimePs now, std::uint32_t work, TimePs first_doorbell) {
  first_work_at(first_doorbell);
  ++under_way_;
  // Its payload is never inline in the WQE.
  to_reduce_.push({now + ps_from_ns(nic_.config.host.post_ns) + wqe_ps_ + payload_ps_, work});
}

void LightNode::offer_port(TimePs now, std::uint32_t plane) {
  idle_before(now);
  reductions_->port_free(now, plane);
  idle_after(now, false);
}

void LightNode::receive_result(TimePs now, const Packet& packet) {
  nic_.counters.received.add(packet);
  if (packet.damage != Damage::none) {
    ++nic_.counters.corrupted_received;
    return;
  }
  idle_before(now);
  reductions_->receive(now, packet);
  idle_after(now, false);
  arm();
}

void LightNode::part_sent(std::uint32_t plane, std::uint32_t bytes, bool retransmission, TimePs busy_until) {
  count_sent(plane, bytes, retransmission, CutCause::loss);
  port_taken(plane, busy_until);
  idle_busy(plane, busy_until);
  arm();
}

void LightNode::part_reduced(TimePs now, std::uint32_t work, std::uint32_t bytes, const std::string& wrong) {
  ++nic_.counters.delivered;
  nic_.counters.delivered_bytes += bytes;
  player_.part_reduced(now, work, bytes, wrong);
}

void LightNode::all_reduced(TimePs now, std::uint32_t work) {
  reduced_.push({now + completion_ps_, work});
}

void LightNode::port_busy_changed(TimePs now, std::uint32_t plane) {
  if (!idle_) return;
  idle_before(now);
  idle_->change_busy(plane, network_.free_at(network_.topology().uplink_of(nic_.node, plane)));
}

void LightNode::finish(TimePs now) {
  if (!idle_ || idle_->finished()) return;
  idle_->finish(now);
  watching_ = nullptr;
  port_use_ = use_of_ports(now);
  for (std::size_t port = 0; port < use_before_.size(); ++port) {
    port_use_[port].sent_bytes -= use_before_[port].sent_bytes;
    port_use_[port].slow_ps -= use_before_[port].slow_ps;
    port_use_[port].retry_ps -= use_before_[port].retry_ps;
  }
}

std::vector<LinkUse> LightNode::use_of_ports(TimePs now) const {
  std::vector<LinkUse> use;
  for (std::uint32_t port = 0; port < nic_.config.nic.ports; ++port) {
    use.push_back(network_.use_of(network_.topology().uplink_of(nic_.node, port), now));
  }
  return use;
}

std::uint8_t LightNode::gate_cause(SendGate gate, const Qp& qp) {
  switch (gate) {
    case SendGate::blocked_cwnd:
      return static_cast<std::uint8_t>(LightIdle::window +
                                       static_cast<std::uint8_t>(qp.congestion->control->last_cut()));
    case SendGate::blocked_mpr:
      return LightIdle::mpr;
    case SendGate::blocked_write_imm:
      return LightIdle::write_imm;
    default:
      return LightIdle::acknowledgement;
  }
}

void LightNode::look_at_ports(TimePs now, bool all_busy) {
  if (!idle_->counting()) return;
  if (all_busy) {
    idle_->never_idle();
    watching_ = nullptr;
    return;
  }
  if (watching_ == nullptr) watch_ports(now);
  idle_->waits_for(idle_cause(now));
}

void LightNode::watch_ports(TimePs now) {
  for (std::uint32_t port = 0; port < nic_.config.nic.ports; ++port) {
    idle_->port_busy(port, network_.free_at(network_.topology().uplink_of(nic_.node, port)));
  }
  idle_->may_be_idle(now);
  watching_ = idle_.get();
}

std::uint8_t LightNode::idle_cause(TimePs now) {
  const std::uint8_t sending = sending_waits_for(now);
  if (sending != LightIdle::acknowledgement) return sending;
  if (reductions_ != nullptr) {
    const ReductionSender::Waits waits = reductions_->waits_for(now);
    if (waits == ReductionSender::Waits::slots) return LightIdle::reduction_slots;
    if (waits == ReductionSender::Waits::adder) return LightIdle::reduction_adder;
  }
  if (!starts_.empty() || !to_reduce_.empty()) return LightIdle::host;
  if (player_.has_pending()) return LightIdle::outstanding_messages;
  return under_way_ > 0 ? LightIdle::acknowledgement : LightIdle::no_work;
}

TimePs LightNode::next_wake() {
  TimePs next = std::min({player_.next_alarm(), deadlines_.next(), next_timer()});
  if (!starts_.empty()) next = std::min(next, starts_.front().at);
  if (!seen_.empty()) next = std::min(next, seen_.front().at);
  if (reductions_ != nullptr) {
    next = std::min(next, reductions_->next_timer());
    if (!to_reduce_.empty()) next = std::min(next, to_reduce_.front().at);
    if (!reduced_.empty()) next = std::min(next, reduced_.front().at);
  }
  return next;
}

void LightNode::arm(TimePs at) {
  const TimePs next = std::min(at, next_wake());
  if (next >= armed_at_) return;
  armed_at_ = std::max(next, network_.now());
  network_.set_timer(armed_at_, nic_.node);
}

void LightNode::serve_deadlines(TimePs now) {
  while (deadlines_.next() <= now) {
    const Due due = deadlines_.pop();
    Qp& qp = nic_.qps[due.qp];
    if (qp.timer_at != due.at) continue;
    qp.timer_at = kNever;
    if (next_deadline(qp) <= now) deadline(now, qp);
    update_deadline(now, qp);
  }
}

void LightNode::place(const Packet& packet) {
  if (packet.payload == nullptr) [[likely]] {
    memory_.write(packet.va, nullptr, packet.payload_bytes);
  } else {
    memory_.write_at(network_.now() + ps_from_ns(nic_.config.pcie.write_latency_ns), packet.va, packet.payload,
                     packet.payload_bytes);
  }
  ++nic_.counters.delivered;
  nic_.counters.delivered_bytes += packet.payload_bytes;
}

void LightNode::fill(Packet& packet, const SendPlan& plan) {
  std::construct_at(&packet);
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
}

}  // namespace mrc
