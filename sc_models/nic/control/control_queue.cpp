#include "nic/control/control_queue.h"

namespace mrc::timing {

ControlQueue::ControlQueue(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                           std::vector<Port*> ports)
    : Box(name, owner),
      slot("control_queue", nic.rx_work),
      nic_(nic),
      ports_(std::move(ports)),
      in_("control_queue", nic.config.nic.control_queue.entries) {}

std::uint32_t ControlQueue::ports_with_room() const {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (!ports_[i]->control().full()) mask |= 1U << i;
  }
  return mask;
}

void ControlQueue::choose_path(TimePs now, Qp& qp, Packet& packet, std::uint32_t room) {
  nic_.memories[SmallTable::reverse_paths].count(now);
  nic_.memories[SmallTable::encap_template].count(now);
  const ReversePaths::Choice choice = qp.reverse_paths->pick(room);
  packet.ev = choice.ev;
  packet.plane = choice.plane;
  packet.outer_dst = usid_carrier_of_ev(qp.route, choice.plane, choice.ev);
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
  if (room == 0) {
    slot.blocked(now, BlockedBy::port_control_fifo);
    for (Port* port : ports_) port->control().wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.control_queue.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  slot.busy(now, next_start_);
  const ControlPacket control = in_.pop(now);
  Packet* packet = control.packet;
  choose_path(now, nic_.qps[control.qp], *packet, room);
  ports_[packet->plane]->control().push(now, packet, now + nic_.clock.cycles(pipeline.latency_cycles));
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
