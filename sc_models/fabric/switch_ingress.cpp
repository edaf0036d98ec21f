#include "fabric/switch_ingress.h"

namespace mrc {

SwitchIngress::SwitchIngress(const sc_core::sc_module_name& name, WheelModule& owner, const FabricConfig& config,
                             Link& in, const ForwardingTable& table, Impairment impairment)
    : Box(name, owner),
      in_(in),
      table_(table),
      impairment_(impairment),
      latency_ps_(static_cast<TimePs>(config.switch_latency_ns * 1000.0)),
      cut_through_(config.forwarding == SwitchForwarding::cut_through) {
  in_.set_receiver(this);
}

void SwitchIngress::forward(TimePs now, const Flight& flight, Packet packet) {
  packet.outer_dst = shift_usid(packet.outer_dst);
  SwitchPort* port = table_[active_usid(packet.outer_dst)];
  if (port == nullptr || packet.hop_limit <= 1) {
    ++without_route_;
    return;
  }
  --packet.hop_limit;
  const TimePs arrival = cut_through_ ? flight.first_bit : flight.last_bit;
  port->enqueue(now, packet, arrival + latency_ps_, flight.last_bit + latency_ps_);
}

void SwitchIngress::step(TimePs now) {
  while (in_.next_due() <= now) {
    const Flight& flight = in_.front();
    Packet packet = flight.packet;
    const Impairment::Verdict verdict = impairment_.apply(packet);
    if (verdict != Impairment::Verdict::drop) forward(now, flight, packet);
    if (verdict == Impairment::Verdict::duplicate) forward(now, flight, packet);
    in_.pop();
  }
  if (!in_.empty()) wake_at(in_.next_due());
}

}  // namespace mrc
