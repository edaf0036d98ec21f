#include "nic/control/probe_engine.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "nic/control/sack_processor.h"

namespace mrc::timing {
namespace {

constexpr QpNumber kEndpointQp = PortStatusAgent::kEndpointQp;

}  // namespace

ProbeEngine::ProbeEngine(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                         std::vector<Port*> ports)
    : Box(name, owner),
      nic_(nic),
      ports_(std::move(ports)),
      probes_(nic.config.nic.probe_engine.outstanding_probes),
      port_status_(nic),
      random_(nic.scenario.seed, fmt::format("nic{}.probe_engine", nic.node)),
      outstanding_("probe_engine.outstanding", "probes", nic.config.nic.probe_engine.outstanding_probes) {}

void ProbeEngine::update(std::uint32_t index, TimePs now) {
  Qp& qp = nic_.qps[index];
  const TimePs at = qp.paths->next_probe_time();
  if (at >= qp.probe_at) return;
  nic_.memories[SmallTable::probe_turns].count(now);
  qp.probe_at = std::max(at, now);
  turns_.push_back({qp.probe_at, index});
  std::push_heap(turns_.begin(), turns_.end(), std::greater<>{});
  wake_at(qp.probe_at);
}

void ProbeEngine::answered(std::uint16_t probe_id) {
  Probe& probe = slot_of(probe_id);
  if (!probe.waiting) return;
  probe.waiting = false;
}

bool ProbeEngine::room(std::uint8_t plane) const {
  return outstanding_.fits(1) && !ports_[plane]->control().full();
}

Packet ProbeEngine::header(const Qp& qp, Ev ev, std::uint8_t plane, TimePs now) const {
  Packet packet;
  packet.source_node = nic_.node;
  packet.destination_node = qp.peer;
  packet.ev = ev;
  packet.plane = plane;
  packet.role = TrafficRole::no_trim;
  packet.timestamp_in_us = nic_.scenario.protocol.timestamp_in_us;
  packet.tx_timestamp = static_cast<std::uint16_t>(now / (packet.timestamp_in_us ? kPsPerUs : 128 * kPsPerNs));
  packet.outer_dst = usid_carrier_of_ev(qp.route, plane, ev);
  return packet;
}

bool ProbeEngine::send(TimePs now, Packet packet, const Probe& probe) {
  if (!room(probe.plane)) return false;
  const std::uint16_t id = next_id_++;
  if (packet.opcode == Opcode::probe_request) {
    packet.probe.probe_id = id;
  } else {
    packet.psn = id;
    packet.endpoint = {.port_status_mask = 0, .request_id = id, .op = EndpointOp::ev_probe};
  }
  slot_of(id) = probe;
  sent_.push(id);
  outstanding_.add(now, 1);
  Packet* pooled = nic_.packets.acquire();
  *pooled = packet;
  ports_[probe.plane]->control().push(now, pooled,
                                      now + nic_.clock.cycles(nic_.config.nic.probe_engine.pipeline.latency_cycles));
  arm();
  return true;
}

void ProbeEngine::probe_bad_ev(TimePs now, std::uint32_t index) {
  Qp& qp = nic_.qps[index];
  const EvIndex ev = qp.paths->take_due_probe(now);
  if (ev == kNoEv) return;
  Packet packet = header(qp, qp.paths->value(ev), qp.paths->plane(ev), now);
  packet.opcode = Opcode::probe_request;
  packet.destination_qp = qp.peer_number;
  const TimePs due = now + nic_.scenario.protocol.probe_timeout_ps;
  // Without room the EV waits for its next turn.
  send(now, packet, {due, index, packet.ev, ev, packet.plane, true});
}

void ProbeEngine::data_received(TimePs now, Qp& qp) {
  const TimePs round_trip = nic_.scenario.cc.base_rtt_ps;
  if (now < qp.reverse_probe_at) return;
  qp.reverse_probe_at = now + round_trip;
  if (qp.data_sent_at != 0 && qp.data_sent_at + round_trip > now) return;
  const auto plane = static_cast<std::uint8_t>(reverse_plane_++ % ports_.size());
  Packet packet = header(qp, static_cast<Ev>(random_.next()), plane, now);
  packet.opcode = Opcode::endpoint_request;
  packet.destination_qp = kEndpointQp;
  const TimePs due = now + nic_.scenario.protocol.probe_timeout_ps;
  send(now, packet, {due, nic_.index_of(qp), packet.ev, kNoEv, plane, true});
}

void ProbeEngine::endpoint_packet(TimePs now, const Packet& packet) {
  const bool port_status = packet.endpoint.op == EndpointOp::port_status_update;
  if (packet.opcode == Opcode::endpoint_response) {
    if (port_status) {
      port_status_.update_answered(now, packet);
      return;
    }
    Probe& probe = slot_of(packet.endpoint.request_id);
    if (!probe.waiting || probe.ev != kNoEv) return;
    probe.waiting = false;
    nic_.qps[probe.qp].reverse_paths->confirm(probe.plane, probe.value);
    return;
  }
  const auto from =
      std::find_if(nic_.qps.begin(), nic_.qps.end(), [&](const Qp& qp) { return qp.peer == packet.source_node; });
  if (from == nic_.qps.end()) return;
  if (port_status) {
    port_status_.update_received(now, packet);
    arm();
  }
  if (ports_[packet.plane]->control().full()) return;
  Packet* reply = nic_.packets.acquire();
  *reply = header(*from, packet.ev, packet.plane, now);
  reply->opcode = Opcode::endpoint_response;
  reply->role = TrafficRole::control;
  reply->destination_qp = kEndpointQp;
  reply->psn = packet.endpoint.request_id;
  reply->tx_timestamp = packet.tx_timestamp;
  reply->endpoint = packet.endpoint;
  ports_[packet.plane]->control().push(now, reply,
                                       now + nic_.clock.cycles(nic_.config.nic.probe_engine.pipeline.latency_cycles));
}

void ProbeEngine::expire(TimePs now) {
  while (!sent_.empty()) {
    Probe& probe = slot_of(sent_.front());
    if (probe.waiting && probe.due > now) return;
    sent_.pop();
    outstanding_.remove(now, 1);
    if (!probe.waiting) continue;
    probe.waiting = false;
    if (probe.ev != kNoEv) nic_.qps[probe.qp].paths->report(probe.ev, PathEvent::probe_lost, now);
  }
}

void ProbeEngine::arm() {
  if (!sent_.empty()) wake_at(slot_of(sent_.front()).due);
  if (!turns_.empty()) wake_at(turns_.front().at);
  if (const TimePs next = port_status_.next(); next != kNever) wake_at(next);
}

void ProbeEngine::step(TimePs now) {
  expire(now);
  port_status_.due(now, [&](Qp&, const Packet& packet) {
    Fifo<Packet*>& control = ports_[packet.plane]->control();
    // Without room it is sent again when it has not been answered.
    if (control.full()) return;
    Packet* pooled = nic_.packets.acquire();
    *pooled = packet;
    control.push(now, pooled, now + nic_.clock.cycles(nic_.config.nic.probe_engine.pipeline.latency_cycles));
  });
  while (!turns_.empty() && turns_.front().at <= now) {
    std::pop_heap(turns_.begin(), turns_.end(), std::greater<>{});
    const Turn turn = turns_.back();
    turns_.pop_back();
    nic_.qps[turn.qp].probe_at = kNever;
    probe_bad_ev(now, turn.qp);
    update(turn.qp, now + 1);
  }
  arm();
}

}  // namespace mrc::timing
