#include "nic/control/probe_engine.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "nic/control/sack_processor.h"
#include "nic/memory_fields.h"

namespace mrc::timing {

ProbeEngine::ProbeEngine(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                         std::vector<Fifo<Packet*>*> ports)
    : Box(name, owner,
          {.name = "probe_engine", .part = NicPart::control, .behind = "completion", .packets = Handling::makes}),
      nic_(nic),
      turn_memory_(nic.memories[kTurns]),
      ports_(std::move(ports)),
      probes_(nic.config.nic.probe_engine.outstanding_probes),
      port_status_(nic),
      path_drain_(nic),
      random_(nic.scenario.seed, fmt::format("nic{}.probe_engine", nic.node)),
      outstanding_(*this, "probe_engine.outstanding", "probes", nic.config.nic.probe_engine.outstanding_probes) {
  declare(
      DeclaredTokens{.cause = nic.causes.declare("probe_engine.outstanding", {"nic.probe_engine.outstanding_probes"}),
                     .capacity = outstanding_.capacity(),
                     .unit = outstanding_.unit(),
                     .taken_by = "probe_engine",
                     .returned_by = "sack_processor",
                     .way = TokenWay::network});
  nic.memories.count(kOutstanding, outstanding_);
}

void ProbeEngine::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const std::uint64_t ev_index_bits = bits_for(nic.protocol.ev_count - 1);
  out.add(kOutstanding, {.depth = nic.node.nic.probe_engine.outstanding_probes},
          {kQpField, {"deadline", 32}, kEvField, {"EV index", ev_index_bits}, kPlaneField, {"state", 2}});
  out.add(kTurns, {.depth = nic.scale.qps}, {{"next probe", 32}, {"turn", ev_index_bits}});
}

void ProbeEngine::update(std::uint32_t index, TimePs now) {
  Qp& qp = nic_.qps[index];
  const TimePs at = qp.paths->next_probe_time();
  if (at >= qp.probe_at) return;
  turn_memory_.count(now);
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
  return outstanding_.fits(1) && !ports_[plane]->full();
}

ProbePath ProbeEngine::path(const Qp& qp, Ev ev, std::uint8_t plane) const {
  return {nic_.node, qp.peer, &qp.route, ev, plane};
}

void ProbeEngine::send(TimePs now, const Packet& packet, const Probe& probe, StartId because) {
  slot_of(next_id_) = probe;
  sent_.push(next_id_++);
  outstanding_.add(now, 1);
  push(now, packet, because);
  arm();
}

void ProbeEngine::push(TimePs now, const Packet& packet, StartId because) {
  Packet* pooled = nic_.packets.acquire();
  *pooled = packet;
  pooled->last_start = because;
  const TimePs latency = nic_.clock.cycles(nic_.config.nic.probe_engine.pipeline.latency_cycles);
  ports_[packet.plane]->push(now, pooled, now + latency);
}

void ProbeEngine::probe_bad_ev(TimePs now, std::uint32_t index) {
  Qp& qp = nic_.qps[index];
  const EvIndex ev = qp.paths->take_due_probe(now);
  if (ev == kNoEv) return;
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const ProbePath on = path(qp, qp.paths->value(ev), qp.paths->plane(ev));
  if (!room(on.plane)) {
    qp.paths->probe_not_sent(ev);
    return;
  }
  send(now, reliability_probe(on, qp.peer_number, next_id_, protocol, now),
       {now + protocol.probe_timeout_ps, index, on.ev, ev, on.plane, true}, 0);
}

void ProbeEngine::data_received(TimePs now, Qp& qp, const Packet& data, bool duplicate) {
  if (!qp.reverse_probe.is_due(data.payload_bytes, now)) return;
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const TimePs round_trip = nic_.scenario.cc.base_rtt_ps;
  if (owes_ev_probe(qp.reverse_probe, duplicate, qp.sends(), protocol, round_trip, now))
    send_ev_probe(now, qp, data.last_start);
}

void ProbeEngine::send_ev_probe(TimePs now, const Qp& qp, StartId because) {
  const auto plane = static_cast<std::uint8_t>(reverse_plane_++ % ports_.size());
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const Ev ev = protocol.ev_layout.fitted(static_cast<Ev>(random_.next()), plane, qp.route.uplinks);
  const ProbePath on = path(qp, ev, plane);
  if (!room(plane)) return;
  send(now, ev_probe(on, next_id_, protocol, now),
       {now + protocol.probe_timeout_ps, nic_.index_of(qp), on.ev, kNoEv, plane, true}, because);
}

bool ProbeEngine::probe_for_software(TimePs now, std::uint32_t number, NodeId node, Ev ev, std::uint8_t plane) {
  if (!room(plane)) return false;
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const UsidTemplate route = route_to_(node);
  const ProbePath on{nic_.node, node, &route, ev, plane};
  send(now, ev_probe(on, next_id_, protocol, now),
       {.due = now + protocol.probe_timeout_ps,
        .value = ev,
        .plane = plane,
        .waiting = true,
        .of_software = number,
        .id = next_id_,
        .sent_at = now},
       0);
  return true;
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
    const bool of_software = probe.of_software != 0;
    if (of_software && probe.id != packet.endpoint.request_id) return;
    probe.waiting = false;
    if (of_software) {
      answers_.push_back({probe.of_software, packet.plane, now - probe.sent_at, now});
      return;
    }
    Qp& qp = nic_.qps[probe.qp];
    qp.reverse_paths->confirm(probe.plane, probe.value);
    qp.reverse_probe.repeats = 0;
    return;
  }
  const auto from =
      std::find_if(nic_.qps.begin(), nic_.qps.end(), [&](const Qp& qp) { return qp.peer == packet.source_node; });
  const bool known = from != nic_.qps.end();
  if (!known && (port_status || !route_to_)) return;
  if (port_status) {
    port_status_.update_received(now, packet);
    arm();
  }
  if (ports_[packet.plane]->full()) return;
  const UsidTemplate route = known ? from->route : route_to_(packet.source_node);
  const ProbePath on{nic_.node, packet.source_node, &route, packet.ev, packet.plane};
  push(now, endpoint_response(on, packet, nic_.scenario.protocol), packet.last_start);
}

void ProbeEngine::expire(TimePs now) {
  while (!sent_.empty()) {
    Probe& probe = slot_of(sent_.front());
    if (probe.waiting && probe.due > now) return;
    sent_.pop();
    outstanding_.remove(now, 1);
    // Software waits for its answer as long as it likes.
    if (!probe.waiting || probe.of_software != 0) continue;
    probe.waiting = false;
    Qp& qp = nic_.qps[probe.qp];
    if (probe.ev != kNoEv) {
      qp.paths->report(probe.ev, PathEvent::probe_lost, now);
      update(probe.qp, now);
    } else if (repeats_ev_probe(qp.reverse_probe)) {
      send_ev_probe(now, qp, 0);
    }
  }
}

void ProbeEngine::arm() {
  if (!sent_.empty()) wake_at(slot_of(sent_.front()).due);
  if (!turns_.empty()) wake_at(turns_.front().at);
  if (const TimePs next = std::min(port_status_.next(), path_drain_.next()); next != kNever) wake_at(next);
}

void ProbeEngine::step(TimePs now) {
  expire(now);
  path_drain_.due(now);
  port_status_.due(now, [&](Qp&, const Packet& packet) {
    // Without room it is repeated after its timeout.
    if (!ports_[packet.plane]->full()) push(now, packet, 0);
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
