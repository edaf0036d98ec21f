#include "nic/control/control_queue.h"

#include <bit>

#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/srv6_encap.h"

namespace mrc::timing {

ControlQueue::ControlQueue(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                           std::vector<Fifo<Packet*>*> ports)
    : Box(name, owner,
          {.name = "control_queue", .part = NicPart::control, .behind = "ack_coalescer", .packets = Handling::passes}),
      slot(*this, nic.rx_work),
      nic_(nic),
      reverse_paths_(nic.memories[kReversePaths]),
      templates_(nic.memories[Srv6Encap::kTemplates]),
      ports_(std::move(ports)),
      in_(*this, "control_queue", nic.config.nic.control_queue.entries,
          {.is_accounted = false, .maker = "ack_coalescer"}),
      no_port_room_(Srv6Encap::no_control_room(nic)),
      starts_(nic.trace, server_cause(nic, "control_queue.pipeline"), nic.causes.declare("control_queue")) {
  in_.connect(this);
  declare(pipeline_server(nic, "control_queue.pipeline", "control_queue", nic.config.nic.control_queue.pipeline));
  nic.memories.count(kQueue, in_.occupancy());
}

void ControlQueue::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const NicConfig& config = nic.node.nic;
  out.add(kQueue, {.depth = config.control_queue.entries}, {kControlPacketField, kQpField});
  out.add(kReversePaths, {.depth = nic.scale.qps, .ports = MemoryPorts::one_rw},
          {{"EV a plane", 32ULL * config.ports}, {"turn", 3}});
}

std::uint32_t ControlQueue::ports_with_room() const {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (!ports_[i]->full()) mask |= 1U << i;
  }
  return mask;
}

bool ControlQueue::choose_path(TimePs now, Qp& qp, Packet& packet, std::uint32_t room) {
  ReversePaths::Choice choice = qp.reverse_paths->pick(room & nic_.ports_up);
  if (!choice.found && qp.reverse_paths->has_one(nic_.ports_up)) return false;
  // Without any path it is lost on any port, and does not block others.
  if (!choice.found) choice.plane = static_cast<std::uint8_t>(std::countr_zero(room));
  reverse_paths_.count(now);
  templates_.count(now);
  packet.ev = choice.ev;
  packet.plane = choice.plane;
  packet.without_srh = qp.without_srh;
  packet.outer_dst = usid_carrier_of_ev(qp.route, choice.plane, choice.ev, nic_.scenario.protocol.ev_layout);
  return true;
}

void ControlQueue::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  const std::uint32_t room = ports_with_room();
  if (room == 0 || !choose_path(now, nic_.qps[in_.front().qp], *in_.front().packet, room)) {
    slot.blocked(now, no_port_room_);
    for (Fifo<Packet*>* port : ports_) port->wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.control_queue.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  starts_.start(now, slot, in_.front().packet->last_start, in_.ready_at());
  slot.busy(now, next_start_);
  const ControlPacket control = in_.pop(now);
  Packet* packet = control.packet;
  ports_[packet->plane]->push(now, packet, now + nic_.clock.cycles(pipeline.latency_cycles));
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
