#include "nic/tx/srv6_encap.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "mrc/wire/address_plan.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"

namespace mrc::timing {
namespace {

std::uint64_t latency_cycles(const Srv6EncapConfig& config) {
  return config.pipeline.latency_cycles + (config.appends_icrc ? config.icrc_cycles : 0);
}

std::string box_in_front(const NicContext& nic) {
  return nic.scenario.protocol.encryption.on() ? "encrypt" : Srv6Encap::kBoxInFront;
}

}  // namespace

Srv6Encap::Srv6Encap(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                     Fifo<TxPacket>& in, std::vector<Port*> ports, Srv6EncapRtlPath* rtl)
    : Box(name, owner,
          {.name = "srv6_encap", .part = NicPart::transmit, .behind = box_in_front(nic), .packets = Handling::passes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      templates_(nic.memories[kTemplates]),
      payload_memory_(nic.memories[PcieDma::kCompletionBuffer]),
      frame_memory_(nic.memories[Port::kTxFifo]),
      pcie_(pcie),
      in_(in),
      ports_(std::move(ports)),
      rtl_(rtl),
      no_port_room_(nic.causes.declare("port.control_fifo", {"nic.port.control_fifo_entries"})),
      no_control_room_(no_control_room(nic)),
      starts_(nic.trace, server_cause(nic, "srv6_encap"), nic.causes.declare(box_in_front(nic) + ".queue")) {
  in_.connect(this);
  declare(pipeline_server(nic, "srv6_encap", "srv6_encap", nic.config.nic.srv6_encap.pipeline, Datapath::yes));
  if (!nic.config.nic.srv6_encap.control_packets) return;
  control_inside_.resize(ports_.size());
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    control_.push_back(std::make_unique<Fifo<Packet*>>(*this, fmt::format("port{}.encap_fifo", port),
                                                       nic.config.nic.port.encap_fifo_entries,
                                                       QueueUse{.is_accounted = false}));
    control_.back()->connect(this);
    nic.memories.count(kControlFifo, control_.back()->occupancy());
    declare(DeclaredTokens{.cause = no_control_room_,
                           .capacity = control_.back()->occupancy().capacity(),
                           .unit = "entries",
                           .taken_by = "control_queue",
                           .returned_by = place().full_name()});
  }
}

Cause Srv6Encap::no_control_room(NicContext& nic) {
  if (nic.config.nic.srv6_encap.control_packets)
    return nic.causes.declare("port.encap_fifo", {"nic.port.encap_fifo_entries"});
  return nic.causes.declare("port.control_fifo", {"nic.port.control_fifo_entries"});
}

std::vector<Fifo<Packet*>*> Srv6Encap::control() const {
  std::vector<Fifo<Packet*>*> queues;
  for (const auto& queue : control_) queues.push_back(queue.get());
  return queues;
}

void Srv6Encap::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  out.add(kTemplates, {.depth = nic.scale.destinations, .ports = MemoryPorts::one_rw}, {{"uSID carrier", 128}});
  if (!nic.node.nic.srv6_encap.control_packets) return;
  out.add(kControlFifo, {.depth = nic.node.nic.port.encap_fifo_entries, .instances = nic.node.nic.ports},
          {kControlPacketField});
}

void Srv6Encap::declare_latency(LatencyAccount& account) {
  account.pass_box(latency_cycles(account.nic().srv6_encap));
}

bool Srv6Encap::appends_icrc(const Packet& packet) const {
  const Srv6EncapConfig& config = nic_.config.nic.srv6_encap;
  return config.appends_icrc && (config.appends_icrc_to_control || is_data(packet.opcode));
}

RtlCycles Srv6Encap::systemc_cycles(const Packet& packet) const {
  const Srv6EncapConfig& config = nic_.config.nic.srv6_encap;
  const PipelineConfig& pipeline = config.pipeline;
  return {std::max<std::uint64_t>(beats(frame_bytes(packet), nic_.config.nic.datapath_bits),
                                  pipeline.initiation_interval_cycles),
          pipeline.latency_cycles + (appends_icrc(packet) ? config.icrc_cycles : 0)};
}

Srv6EncapInput Srv6Encap::input_of(const Packet& packet, const Qp* qp) const {
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  Srv6EncapInput input;
  input.source = port_address(nic_.node, packet.plane);
  input.payload_length = static_cast<std::uint16_t>(frame_bytes(packet) - kIpv6HeaderBytes);
  input.hop_limit = packet.hop_limit;
  input.dscp = protocol.dscp_of(packet.role, packet.traffic_class);
  input.ecn = packet.ecn;
  input.srh = has_srh(packet, protocol.encapsulation);
  input.icrc = appends_icrc(packet);
  if (qp == nullptr) {
    input.path = usid_template_of(packet.outer_dst);
    return input;
  }
  input.path = qp->route;
  input.uplink = protocol.ev_layout.uplink_in(packet.ev, qp->route.uplinks);
  input.plane = packet.plane;
  return input;
}

Srv6Encap::Service Srv6Encap::encapsulate(TimePs now, Packet& packet, const Qp* qp) {
  if (qp != nullptr)
    packet.outer_dst = usid_carrier_of_ev(qp->route, packet.plane, packet.ev, nic_.scenario.protocol.ev_layout);
  const RtlCycles systemc = systemc_cycles(packet);
  const Service service{now + nic_.clock.cycles(systemc.latency), now + nic_.clock.cycles(systemc.occupied)};
  if (rtl_ == nullptr) return service;
  const std::uint64_t cycle = nic_.clock.edge_index(now);
  const EncapReply reply = rtl_->run(nic_, packet, input_of(packet, qp), cycle, systemc);
  if (!rtl_->drives()) return service;
  packet.outer_dst = outer_destination(reply.header);
  return {nic_.clock.cycles(reply.first_out_cycle), nic_.clock.cycles(std::max(reply.next_cycle, cycle + 1))};
}

TimePs Srv6Encap::move_frame(TimePs now, const TxPacket& tx) {
  Packet& packet = *tx.packet;
  templates_.count(now);
  MemoryAccess payload;
  if (!tx.from_sram) payload = payload_memory_.read_stream(now, 0, packet.payload_bytes);
  const MemoryAccess frame = frame_memory_.write_stream(now, packet.plane, frame_bytes(packet));
  const bool from_payload = payload.delay_ps >= frame.delay_ps;
  const TimePs delay = from_payload ? payload.delay_ps : frame.delay_ps;
  slot.stalled(now, delay, (from_payload ? payload_memory_ : frame_memory_).cause());
  if (payload.failed()) {
    nic_.memory_failed(now, payload_memory_,
                       fmt::format("PSN {} of QP {} leaves with an inverted ICRC and is retransmitted", packet.psn,
                                   nic_.qps[tx.qp].number));
    packet.damage = Damage::corrupted;
  }
  return delay;
}

void Srv6Encap::for_each_packet_held(const PacketVisitor& visit) const {
  if (rtl_ == nullptr) return;
  rtl_->pins().for_each_inside([&](const Srv6EncapRtlPath::PinItem& item) {
    if (item.packet != nullptr && is_data(item.packet->opcode)) visit(*item.packet);
  });
}

Fifo<Packet*>* Srv6Encap::next_control(TimePs now) {
  held_up_ = false;
  for (std::size_t i = 0; i < control_.size(); ++i) {
    const std::size_t port = (turn_ + i) % control_.size();
    if (!control_[port]->ready(now)) continue;
    Fifo<Packet*>& behind = ports_[port]->control();
    if (behind.has_room_for(control_inside_[port] + 1)) return control_[port].get();
    held_up_ = true;
    behind.wait_room(now, *this);
  }
  return nullptr;
}

void Srv6Encap::wait_for_packets(TimePs now, TimePs at) {
  // What is ready and was not taken waits for its port, and the box is woken by that.
  for (const auto& queue : control_) {
    if (at > now || !queue->ready(now)) queue->wait_ready(at);
  }
  in_.wait_ready(at);
}

void Srv6Encap::hold(TimePs now) {
  if (held_up_) {
    slot.blocked(now, no_port_room_);
  } else {
    slot.empty(now);
  }
}

void Srv6Encap::begin_control(TimePs now, Fifo<Packet*>& queue) {
  Packet& packet = *queue.front();
  turn_ = (packet.plane + 1U) % control_.size();
  starts_.follow_packet_before(packet.last_start);
  starts_.start(now, slot, packet.last_start, queue.ready_at());
  nic_.trace.give(no_control_room_, starts_.last());
  queue.pop(now);
}

void Srv6Encap::offer_by_pins(TimePs now) {
  if (const Fifo<Packet*>* control = next_control(now); control != nullptr) {
    Packet& packet = *control->front();
    rtl_->offer(nic_, packet, input_of(packet, nullptr), systemc_cycles(packet));
    return;
  }
  if (!in_.ready(now)) return;
  const TxPacket& tx = in_.front();
  Packet& packet = *tx.packet;
  packet.tx_timestamp = timestamp_units(now, packet.timestamp_in_us);
  rtl_->offer(nic_, packet, input_of(packet, &nic_.qps[tx.qp]), systemc_cycles(packet));
}

void Srv6Encap::begin_by_pins(TimePs now) {
  if (Packet* const packet = rtl_->pins().newest().packet; !is_data(packet->opcode)) {
    begin_control(now, *control_[packet->plane]);
    ++control_inside_[packet->plane];
    slot.busy(now, next_start_);
    return;
  }
  starts_.start(now, slot, in_.front().packet->last_start, in_.ready_at());
  const TxPacket tx = in_.pop(now);
  nic_.trace.give(pcie_.no_completion_buffer(), tx.packet->last_start);
  const TimePs delay = move_frame(now, tx);
  starts_.stall(delay, slot);
  held_until_ = now + delay;
  slot.busy(now, next_start_ + delay);
  rtl_->pins().newest().delay = delay;
  if (!tx.from_sram) pcie_.release_completion_buffer(now, tx.packet->payload_bytes);
}

void Srv6Encap::send_by_pins(TimePs now) {
  Srv6EncapRtlPath::PinItem& item = rtl_->pins().oldest();
  Packet* const packet = std::exchange(item.packet, nullptr);
  packet->outer_dst = outer_destination(rtl_->header());
  Port& port = *ports_[packet->plane];
  if (is_data(packet->opcode)) {
    port.send_data(now, packet, now + item.delay);
  } else {
    --control_inside_[packet->plane];
    port.control().push(now, packet, now);
  }
}

/// A cycle of the RTL's clock at each edge of the core clock, until it is empty.
void Srv6Encap::step_by_pins(TimePs now) {
  const TimePs edge = std::max(nic_.clock.edge(now), next_start_);
  if (now < edge) {
    wake_at(edge);
    return;
  }
  const bool held = now < held_until_;
  if (!held && rtl_->pins().is_free()) offer_by_pins(now);
  if (rtl_->pins().is_idle()) {
    hold(now);
    wait_for_packets(now, now);
    return;
  }
  next_start_ = now + nic_.clock.period_ps();
  const std::uint64_t cycle = nic_.clock.edge_index(now);
  const PinCycle pins = rtl_->clock(cycle, held);
  if (pins.begun) {
    begin_by_pins(now);
  } else if (rtl_->pins().was_occupied()) {
    slot.busy(now, next_start_);
  } else if (!held) {
    hold(now);
  }
  if (pins.first_out) send_by_pins(now);
  if (pins.last_out) rtl_->finish(nic_, cycle);
  wake_at(next_start_);
}

void Srv6Encap::step(TimePs now) {
  if (rtl_ != nullptr && rtl_->by_pins()) {
    step_by_pins(now);
    return;
  }
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  Fifo<Packet*>* const control = next_control(now);
  const Packet* const next = control != nullptr ? control->front() : in_.ready(now) ? in_.front().packet : nullptr;
  if (next == nullptr) {
    hold(now);
  } else if (now < icrc_empty_at_ && !appends_icrc(*next)) {
    // It may not pass those that wait for their ICRC.
    next_start_ = icrc_empty_at_;
    slot.busy(now, next_start_);
  } else if (control != nullptr) {
    serve_control(now, *control);
  } else {
    serve_data(now);
  }
  wait_for_packets(now, std::max(now, next_start_));
}

void Srv6Encap::note_icrc(const Packet& packet) {
  if (!appends_icrc(packet)) return;
  icrc_empty_at_ = next_start_ + nic_.clock.cycles(nic_.config.nic.srv6_encap.icrc_cycles);
}

void Srv6Encap::serve_control(TimePs now, Fifo<Packet*>& queue) {
  Packet* const packet = queue.front();
  begin_control(now, queue);
  const Service service = encapsulate(now, *packet, nullptr);
  next_start_ = service.next_start;
  note_icrc(*packet);
  slot.busy(now, next_start_);
  ports_[packet->plane]->control().push(now, packet, service.first_out);
}

void Srv6Encap::serve_data(TimePs now) {
  starts_.start(now, slot, in_.front().packet->last_start, in_.ready_at());
  const TxPacket tx = in_.pop(now);
  Packet& packet = *tx.packet;
  nic_.trace.give(pcie_.no_completion_buffer(), packet.last_start);
  packet.tx_timestamp = timestamp_units(now, packet.timestamp_in_us);
  const Service service = encapsulate(now, packet, &nic_.qps[tx.qp]);
  const TimePs delay = move_frame(now, tx);
  starts_.stall(delay, slot);
  next_start_ = service.next_start + delay;
  note_icrc(packet);
  slot.busy(now, next_start_);
  if (!tx.from_sram) pcie_.release_completion_buffer(now, packet.payload_bytes);
  ports_[packet.plane]->send_data(now, tx.packet, service.first_out + delay);
}

}  // namespace mrc::timing
