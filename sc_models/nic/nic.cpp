#include "nic/nic.h"

#include <stdexcept>

#include <fmt/format.h>

#include "nic/mrc_halves.h"
#include "nic/nic_boxes.h"

namespace mrc::timing {
namespace {

/// All QPs that send ask the RTL for their records.
void use_records(RetransmitBufferRtlPath& rtl, NicContext& context) {
  if (context.qps.size() > rtl.sizes().qps) {
    throw std::invalid_argument(fmt::format("nic{} has {} QPs: RTL of retransmit_buffer is built for {}", context.node,
                                            context.qps.size(), rtl.sizes().qps));
  }
  if (context.config.nic.retransmit_buffer.reserve_record != RecordReservation::at_request) {
    throw std::invalid_argument(
        "nic.retransmit_buffer.reserve_record: RTL of retransmit_buffer makes a record when the segmenter takes its "
        "packet; "
        "allowed with it: at_request");
  }
  for (Qp& qp : context.qps) {
    if (qp.sender) requestor_of(qp).records().use_rtl(rtl, context.index_of(qp), 0);
  }
}

}  // namespace

Nic::Nic(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& context, HostMemory& memory,
         const std::vector<PortLinks>& links, NicRtl rtl)
    : sc_module(name), context_(context), rtl_(std::move(rtl)) {
  const KeyedRandom pcie_random(context.scenario.seed, fmt::format("nic{}.pcie", context.node));
  pcie_ = PcieDma::create("pcie_dma", owner, context.config.pcie, context.clock, pcie_random, context.tx_work,
                          context.causes, rtl_.pcie_dma.get());
  pcie_->set_payload_extra(static_cast<TimePs>(payload_read_extra_ns(context.scenario.accelerator) * 1000.0 + 0.5));
  pcie_->use_host(context.config.host, context.scenario.accelerator.payload_memory == PayloadMemory::gpu_direct);
  pcie_->trace_to(context.trace);
  if (rtl_.retransmit_buffer) use_records(*rtl_.retransmit_buffer, context);
  pcie_->count_memories(context.memories);
  idle_causes_ = std::make_unique<IdleCauses>(context, *pcie_, static_cast<std::uint32_t>(links.size()));
  overrun_causes_ = std::make_unique<OverrunCauses>(context.causes);
  std::vector<Port*> ports;
  std::vector<Fifo<Packet*>*> control_fifos;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    ports_.push_back(std::make_unique<Port>(fmt::format("port{}", i).c_str(), owner, context, i, *links[i].transmit,
                                            *links[i].receive));
    ports.push_back(ports_.back().get());
    control_fifos.push_back(&ports_.back()->control());
  }

  // Transmit: doorbell → qp_scheduler → wqe_fetch → segmenter → payload_fetch
  //           → spray_scheduler → retransmit_buffer → [encrypt] → srv6_encap → port[n]
  auto& retransmit_buffer = add<RetransmitBuffer>("retransmit_buffer", owner, context);
  auto& qp_scheduler =
      add<QpScheduler>("qp_scheduler", owner, context, *pcie_, retransmit_buffer, rtl_.qp_scheduler.get());
  doorbell_ = &add<Doorbell>("doorbell", owner, context, qp_scheduler);
  auto& wqe_fetch = add<WqeFetch>("wqe_fetch", owner, context, *pcie_, qp_scheduler);
  doorbell_->connect(wqe_fetch);
  auto& segmenter = add<Segmenter>("segmenter", owner, context, qp_scheduler, retransmit_buffer);
  auto& payload_fetch =
      add<PayloadFetch>("payload_fetch", owner, context, *pcie_, memory, retransmit_buffer, segmenter.out_of_classes());
  auto& retransmit_timer = add<RetransmitTimer>("retransmit_timer", owner, context);
  spray_scheduler_ = &add<SprayScheduler>("spray_scheduler", owner, context, payload_fetch.out_of_classes(), ports,
                                          retransmit_timer, rtl_.spray_scheduler.get());
  if (rtl_.spray_scheduler) rtl_.spray_scheduler->attach(context);
  retransmit_buffer.connect(spray_scheduler_->out(), qp_scheduler);
  if (rtl_.retransmit_buffer && rtl_.retransmit_buffer->by_pins()) {
    retransmit_buffer.clock_by_pins(*rtl_.retransmit_buffer, retransmit_timer);
    spray_scheduler_->leave_marking();
  }
  Fifo<TxPacket>* to_send = &retransmit_buffer.out();
  const EncryptionConfig& encryption = context.scenario.protocol.encryption;
  Encrypt* encrypt = nullptr;
  if (encryption.on()) {
    encrypt = &add<Encrypt>("encrypt", owner, context, *pcie_, *to_send);
    payload_fetch.connect(*encrypt);
    to_send = &encrypt->out();
  }
  auto& srv6_encap = add<Srv6Encap>("srv6_encap", owner, context, *pcie_, *to_send, ports, rtl_.srv6_encap.get());
  if (context.config.nic.srv6_encap.control_packets) control_fifos = srv6_encap.control();
  if (encryption.control && encrypt != nullptr) {
    encrypt->send_control_to(control_fifos);
    control_fifos = encrypt->control();
  }

  // Receive: port[n] → parser → [decrypt] → psn_tracker → dma_write → completion
  //                               └→ ack_coalescer → control_queue → port[n]
  auto& parser = add<Parser>("parser", owner, context);
  if (encryption.on()) add<Decrypt>("decrypt", owner, context, *pcie_, parser);
  control_queue_ = &add<ControlQueue>("control_queue", owner, context, control_fifos);
  auto& ack_coalescer = add<AckCoalescer>("ack_coalescer", owner, context, control_queue_->in(), rtl_.psn_tracker.get(),
                                          rtl_.ack_coalescer.get());
  completion_ = &add<Completion>("completion", owner, context, *pcie_);
  auto& dma_write =
      add<DmaWrite>("dma_write", owner, context, *pcie_, memory, ack_coalescer.transport_acks(), completion_->in());
  auto& psn_tracker =
      add<PsnTracker>("psn_tracker", owner, context, parser.to_psn_tracker(), dma_write, ack_coalescer.in(),
                      rtl_.psn_tracker.get(), rtl_.ack_coalescer.get(), ack_coalescer.triggers());

  // Control: SACK, NACK, transport ACK → retransmit_buffer, path table, congestion, completion
  sack_processor_ = &add<SackProcessor>("sack_processor", owner, context, parser.to_sack_processor());
  probe_engine_ = &add<ProbeEngine>("probe_engine", owner, context, control_fifos);
  probe_engine_->connect(*sack_processor_);
  psn_tracker.connect(*probe_engine_, *sack_processor_, qp_scheduler);
  sack_processor_->connect(qp_scheduler, retransmit_buffer, *spray_scheduler_, retransmit_timer, completion_->in(),
                           *probe_engine_);
  retransmit_timer.connect(*sack_processor_, qp_scheduler);
  wqe_fetch.connect(*sack_processor_);
  segmenter.connect(*sack_processor_);
  dma_write.connect(*sack_processor_);

  for (Port* port : ports) port->connect(*spray_scheduler_, parser.in(), *idle_causes_, *overrun_causes_);
  boxes_ = boxes_in_picture(*this);
  idle_causes_->connect(qp_scheduler, segmenter, payload_fetch, *spray_scheduler_, boxes_);
  overrun_causes_->connect(parser);
}

void Nic::begin_sending(TimePs now, Qp& qp) {
  if (rtl_.retransmit_buffer) requestor_of(qp).records().use_rtl(*rtl_.retransmit_buffer, context_.index_of(qp), now);
  if (rtl_.spray_scheduler) rtl_.spray_scheduler->add(*qp.paths);
}

void Nic::closed(TimePs now, const Qp& qp, Psn received) {
  if (!qp.receiver) return;
  if (rtl_.psn_tracker) rtl_.psn_tracker->renew(context_, qp, received, now);
  if (rtl_.ack_coalescer) rtl_.ack_coalescer->renew(context_.index_of(qp));
}

bool Nic::holds_packets_of(const Qp& qp) const {
  bool holds = false;
  const PacketVisitor look = [&](const Packet& packet) {
    const bool to_peer = packet.destination_node == qp.peer && packet.destination_qp == qp.peer_number;
    const bool to_here = packet.destination_node == context_.node && packet.destination_qp == qp.number;
    holds = holds || to_peer || to_here;
  };
  for (const Box* box : boxes_) {
    for (const DeclaredBuffer& buffer : box->buffers()) {
      if (buffer.for_each_packet) buffer.for_each_packet(look);
    }
    box->for_each_packet_held(look);
  }
  return holds;
}

void Nic::set_faults(const std::vector<PortDarkness>& darkness, const std::vector<PortRate>& rates,
                     const std::vector<TimeSpan>& pcie_stalls) {
  for (const PortRate& rate : rates) ports_[rate.port]->change_rate_at(rate.at, rate.gbps);
  for (const TimeSpan& stall : pcie_stalls) pcie_->stall(stall.from, stall.until);
  PortStatusAgent& agent = probe_engine_->port_status();
  agent.set_darkness(darkness);
  agent.on_change([this](TimePs now) { idle_causes_->before_change(now); },
                  [this](TimePs now) {
                    spray_scheduler_->retry(now, 0);
                    control_queue_->wake_at(now);
                  });
  PathDrain& drain = probe_engine_->path_drain();
  drain.on_allow([this](TimePs now) { paths_changed(now); });
  if (const TimePs first = std::min(agent.next(), drain.next()); first != kNever) probe_engine_->wake_at(first);
}

std::vector<const IssueSlot*> Nic::slots() const {
  std::vector<const IssueSlot*> slots;
  for (const Box* box : boxes_) slots.insert(slots.end(), box->slots().begin(), box->slots().end());
  return slots;
}

std::vector<const Occupancy*> Nic::buffers() const {
  std::vector<const Occupancy*> buffers;
  for (const Box* box : boxes_) {
    for (const DeclaredBuffer& buffer : box->buffers()) {
      if (buffer.is_sized) buffers.push_back(buffer.occupancy);
    }
  }
  return buffers;
}

void Nic::settle(TimePs end) {
  for (Box* box : boxes_) box->settle(end);
}

void Nic::open_account(TimePs now) {
  if (sent_before_) return;
  idle_causes_->start(now);
  sent_before_ = sent_until(now);
}

void Nic::close_account(TimePs now) {
  if (sent_) return;
  idle_causes_->finish(now);
  sent_ = sent_until(now);
  if (!sent_before_) return;
  sent_->of_boxes.control_wire_bytes -= sent_before_->of_boxes.control_wire_bytes;
  for (std::size_t port = 0; port < ports_.size(); ++port) sent_->slow_ps[port] -= sent_before_->slow_ps[port];
}

void Nic::note_completion(TimePs now) {
  idle_causes_->note_completion(now);
  control_at_completion_bytes_ = context_.box_counters.control_wire_bytes;
}

Nic::Sent Nic::sent_until(TimePs now) const {
  Sent sent{context_.counters, context_.box_counters, {}};
  BoxCounters& wire = sent.of_boxes;
  for (const auto& port : ports_) {
    const Port::OnLine packet = port->on_line(now);
    const auto to_come = static_cast<std::uint64_t>(packet.bytes);
    sent.slow_ps.push_back(port->slow_ps() - static_cast<TimePs>(packet.slow_ps));
    if (!packet.data) {
      wire.control_wire_bytes -= to_come;
      continue;
    }
    wire.data_wire_bytes -= to_come;
    if (packet.retransmission) {
      wire.retransmitted_wire_bytes -= to_come;
      wire.retransmitted_wire_bytes_by_cause[packet.loss_cause] -= to_come;
    } else {
      sent.counters.first_payload_bytes -= std::min(to_come, sent.counters.first_payload_bytes);
    }
  }
  return sent;
}

void Nic::finish(TimePs end) {
  for (Box* box : boxes_) {
    for (IssueSlot* slot : box->slots()) slot->finish(end);
  }
}

std::vector<AccountResult> Nic::accounts() const {
  const NodeCounters& counters = context_.counters;
  const BoxCounters& of_boxes = context_.box_counters;
  PacketSum transmit;
  PacketSum receive;
  for (const Box* box : boxes_) {
    const NicPart part = box->place().part;
    if (part == NicPart::pcie || part == NicPart::control) continue;
    PacketSum& held = part == NicPart::receive ? receive : transmit;
    const PacketVisitor add = [&held](const Packet& packet) { held.add(packet); };
    for (const DeclaredBuffer& buffer : box->buffers()) {
      if (buffer.for_each_packet) buffer.for_each_packet(add);
    }
    box->for_each_packet_held(add);
  }
  const std::string node = fmt::format("nic{}", context_.node);
  const std::uint64_t consumed = counters.delivered + of_boxes.discarded.packets + of_boxes.control_received.packets;
  return {{node, "transmit", "packets", of_boxes.segmented.packets, counters.data_packets, 0, transmit.packets},
          {node, "transmit", "bytes", of_boxes.segmented.bytes, counters.data_payload_bytes, 0, transmit.bytes},
          {node, "receive", "packets", counters.received.packets, consumed,
           of_boxes.overrun.packets + of_boxes.damaged.packets, receive.packets},
          {node, "receive", "bytes", counters.received.bytes,
           counters.delivered_bytes + of_boxes.discarded.bytes + of_boxes.control_received.bytes,
           of_boxes.overrun.bytes + of_boxes.damaged.bytes, receive.bytes},
          {node, "pcie.read", "bytes", pcie_->bytes_asked(), pcie_->bytes_reported(), 0, pcie_->bytes_under_way()}};
}

}  // namespace mrc::timing
