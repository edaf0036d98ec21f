#include "nic/nic.h"

#include <stdexcept>

#include <fmt/format.h>

namespace mrc::timing {
namespace {

/// All QPs that send ask the RTL for their records.
void use_records(RetransmitBufferRtlPath& rtl, NicContext& context) {
  if (context.qps.size() > rtl.sizes().qps) {
    throw std::invalid_argument(fmt::format("nic{} has {} QPs: RTL of retransmit_buffer is built for {}", context.node,
                                            context.qps.size(), rtl.sizes().qps));
  }
  for (Qp& qp : context.qps) {
    if (qp.requestor) qp.requestor->records().use_rtl(rtl, context.index_of(qp));
  }
}

}  // namespace

Nic::Nic(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& context, HostMemory& memory,
         const std::vector<PortLinks>& links, NicRtl rtl)
    : sc_module(name), context_(context), rtl_(std::move(rtl)) {
  const KeyedRandom pcie_random(context.scenario.seed, fmt::format("nic{}.pcie", context.node));
  pcie_ = PcieDma::create("pcie_dma", owner, context.config.pcie, context.clock, pcie_random, context.tx_work);
  pcie_->set_payload_extra(static_cast<TimePs>(payload_read_extra_ns(context.scenario.accelerator) * 1000.0 + 0.5));
  pcie_->use_rtl(rtl_.pcie_dma.get());
  if (rtl_.retransmit_buffer) use_records(*rtl_.retransmit_buffer, context);
  pcie_->count_memories(context.memories);
  context.pcie = pcie_.get();
  idle_causes_ = std::make_unique<IdleCauses>(context, static_cast<std::uint32_t>(links.size()));
  std::vector<Port*> ports;
  std::vector<Fifo<Packet*>*> control_fifos;
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    ports_.push_back(std::make_unique<Port>(fmt::format("port{}", i).c_str(), owner, context, i, *links[i].transmit,
                                            *links[i].receive));
    ports.push_back(ports_.back().get());
    control_fifos.push_back(&ports_.back()->control());
  }

  // Transmit: doorbell → qp_scheduler → wqe_fetch → segmenter → payload_fetch
  //           → spray_scheduler → retransmit_buffer → srv6_encap → port[n]
  retransmit_buffer_ = std::make_unique<RetransmitBuffer>("retransmit_buffer", owner, context);
  qp_scheduler_ = std::make_unique<QpScheduler>("qp_scheduler", owner, context, *pcie_, *retransmit_buffer_);
  doorbell_ = std::make_unique<Doorbell>("doorbell", owner, context, *qp_scheduler_);
  wqe_fetch_ = std::make_unique<WqeFetch>("wqe_fetch", owner, context, *pcie_, *qp_scheduler_);
  segmenter_ = std::make_unique<Segmenter>("segmenter", owner, context, *qp_scheduler_, *retransmit_buffer_);
  payload_fetch_ = std::make_unique<PayloadFetch>("payload_fetch", owner, context, *pcie_, memory, segmenter_->out());
  retransmit_timer_ = std::make_unique<RetransmitTimer>("retransmit_timer", owner, context);
  spray_scheduler_ = std::make_unique<SprayScheduler>("spray_scheduler", owner, context, payload_fetch_->out(), ports,
                                                      *retransmit_timer_, rtl_.spray_scheduler.get());
  if (rtl_.spray_scheduler) rtl_.spray_scheduler->attach(context);
  retransmit_buffer_->connect(spray_scheduler_->out(), *qp_scheduler_);
  srv6_encap_ = std::make_unique<Srv6Encap>("srv6_encap", owner, context, *pcie_, retransmit_buffer_->out(), ports,
                                            rtl_.srv6_encap.get());

  // Receive: port[n] → parser → psn_tracker → dma_write → completion
  //                               └→ ack_coalescer → control_queue → port[n]
  parser_ = std::make_unique<Parser>("parser", owner, context);
  control_queue_ = std::make_unique<ControlQueue>("control_queue", owner, context, control_fifos);
  ack_coalescer_ =
      std::make_unique<AckCoalescer>("ack_coalescer", owner, context, control_queue_->in(), rtl_.psn_tracker.get());
  completion_ = std::make_unique<Completion>("completion", owner, context, *pcie_);
  dma_write_ = std::make_unique<DmaWrite>("dma_write", owner, context, *pcie_, memory, ack_coalescer_->transport_acks(),
                                          completion_->in());
  psn_tracker_ = std::make_unique<PsnTracker>("psn_tracker", owner, context, parser_->to_psn_tracker(), *dma_write_,
                                              ack_coalescer_->in(), rtl_.psn_tracker.get(), rtl_.ack_coalescer.get());

  // Control: SACK, NACK, transport ACK → retransmit_buffer, path table, congestion, completion
  sack_processor_ = std::make_unique<SackProcessor>("sack_processor", owner, context, parser_->to_sack_processor());
  probe_engine_ = std::make_unique<ProbeEngine>("probe_engine", owner, context, control_fifos);
  probe_engine_->connect(*sack_processor_);
  psn_tracker_->connect(*probe_engine_, *sack_processor_, *qp_scheduler_);
  sack_processor_->connect(*qp_scheduler_, *retransmit_buffer_, *spray_scheduler_, *retransmit_timer_,
                           completion_->in(), *probe_engine_);
  retransmit_timer_->connect(*sack_processor_);
  wqe_fetch_->connect(*sack_processor_);
  segmenter_->connect(*sack_processor_);
  dma_write_->connect(*sack_processor_);

  context.receive_slots = {.parser = &parser_->slot,
                           .psn_tracker = &psn_tracker_->slot,
                           .ack_coalescer = &ack_coalescer_->slot,
                           .control_queue = &control_queue_->slot};
  for (Port* port : ports) port->connect(*spray_scheduler_, parser_->in(), *idle_causes_);
  watch_idle_ports();
}

void Nic::set_faults(const std::vector<PortDarkness>& darkness, const std::vector<PortRate>& rates,
                     const std::vector<TimeSpan>& pcie_stalls) {
  for (const PortRate& rate : rates) ports_[rate.port]->change_rate_at(rate.at, rate.gbps);
  for (const TimeSpan& stall : pcie_stalls) pcie_->stall(stall.from, stall.until);
  PortStatusAgent& agent = probe_engine_->port_status();
  agent.set_darkness(darkness);
  agent.on_change([this](TimePs now) { idle_causes_->before_change(now); },
                  [this](TimePs now) {
                    spray_scheduler_->retry(now);
                    control_queue_->wake_at(now);
                  });
  if (agent.next() != kNever) probe_engine_->wake_at(agent.next());
}

void Nic::watch_idle_ports() {
  idle_causes_->connect({.srv6_encap = &srv6_encap_->slot,
                         .retransmit_buffer = &retransmit_buffer_->slot,
                         .spray_scheduler = &spray_scheduler_->slot,
                         .payload_fetch = &payload_fetch_->slot,
                         .read_issue = &pcie_->read_issue_slot(),
                         .segmenter = &segmenter_->slot,
                         .qp_scheduler = &qp_scheduler_->slot});
  for (IssueSlot* slot : {&srv6_encap_->slot, &retransmit_buffer_->slot, &spray_scheduler_->slot, &payload_fetch_->slot,
                          &segmenter_->slot, &qp_scheduler_->slot, &wqe_fetch_->slot}) {
    slot->observe(*idle_causes_);
  }
  pcie_->observe(*idle_causes_);
  context_.tx_work.observe(*idle_causes_);
}

std::vector<IssueSlot*> Nic::mutable_slots() {
  std::vector<IssueSlot*> slots{&doorbell_->slot,         &qp_scheduler_->slot,    &wqe_fetch_->slot,
                                &segmenter_->slot,        &payload_fetch_->slot,   &pcie_->read_issue_slot(),
                                &pcie_->read_data_slot(), &spray_scheduler_->slot, &retransmit_buffer_->slot,
                                &srv6_encap_->slot,       &parser_->slot,          &psn_tracker_->slot,
                                &pcie_->write_slot(),     &ack_coalescer_->slot,   &control_queue_->slot,
                                &sack_processor_->slot,   &completion_->slot};
  for (const auto& port : ports_) slots.push_back(&port->slot);
  return slots;
}

std::vector<const IssueSlot*> Nic::slots() const {
  const std::vector<IssueSlot*> slots = const_cast<Nic*>(this)->mutable_slots();
  return {slots.begin(), slots.end()};
}

void Nic::settle(TimePs end) {
  for (const auto& port : ports_) port->settle(end);
  dma_write_->settle(end);
  pcie_->settle(end);
}

void Nic::finish(TimePs end) {
  for (IssueSlot* slot : mutable_slots()) slot->finish(end);
}

std::vector<AccountResult> Nic::accounts() const {
  const NicCounters& counters = context_.counters;
  PacketSum transmit;
  const auto in_transmit = [&](const TxPacket& tx) { transmit.add(*tx.packet); };
  segmenter_->out().for_each(in_transmit);
  payload_fetch_->for_each_under_way(in_transmit);
  payload_fetch_->out().for_each(in_transmit);
  spray_scheduler_->out().for_each(in_transmit);
  retransmit_buffer_->out().for_each(in_transmit);
  for (const auto& port : ports_) port->data().for_each([&](const Packet* packet) { transmit.add(*packet); });
  PacketSum receive;
  const auto in_receive = [&](const Packet* packet) { receive.add(*packet); };
  parser_->in().for_each(in_receive);
  parser_->to_psn_tracker().for_each(in_receive);
  parser_->to_sack_processor().for_each(in_receive);
  dma_write_->in().for_each([&](const WriteJob& job) { receive.add(*job.packet); });
  const std::string node = fmt::format("nic{}", context_.node);
  const std::uint64_t consumed = counters.delivered + counters.discarded.packets + counters.control_received.packets;
  return {{node, "transmit", "packets", counters.segmented.packets, counters.data_packets, 0, transmit.packets},
          {node, "transmit", "bytes", counters.segmented.bytes, counters.data_payload_bytes, 0, transmit.bytes},
          {node, "receive", "packets", counters.received.packets, consumed,
           counters.overrun.packets + counters.damaged.packets, receive.packets},
          {node, "receive", "bytes", counters.received.bytes,
           counters.delivered_bytes + counters.discarded.bytes + counters.control_received.bytes,
           counters.overrun.bytes + counters.damaged.bytes, receive.bytes},
          {node, "pcie.read", "bytes", pcie_->bytes_asked(), pcie_->bytes_reported(), 0, pcie_->bytes_under_way()}};
}

std::vector<const Occupancy*> Nic::buffers() const {
  std::vector<const Occupancy*> buffers{&doorbell_->queue().occupancy(),
                                        &qp_scheduler_->ready(),
                                        &qp_scheduler_->contexts(),
                                        &qp_scheduler_->grants().occupancy(),
                                        &qp_scheduler_->wqe_requests().occupancy(),
                                        &qp_scheduler_->wqes(),
                                        &segmenter_->out().occupancy(),
                                        &payload_fetch_->out().occupancy(),
                                        &pcie_->read_queue(),
                                        &pcie_->tags(),
                                        &pcie_->completion_buffer(),
                                        &pcie_->posted_data(),
                                        &spray_scheduler_->out().occupancy(),
                                        &retransmit_buffer_->entries(),
                                        &retransmit_buffer_->bytes(),
                                        &retransmit_buffer_->out().occupancy(),
                                        &parser_->in().occupancy(),
                                        &parser_->to_psn_tracker().occupancy(),
                                        &parser_->to_sack_processor().occupancy(),
                                        &psn_tracker_->bitmap(),
                                        &dma_write_->in().occupancy(),
                                        &dma_write_->staging(),
                                        &ack_coalescer_->in().occupancy(),
                                        &ack_coalescer_->transport_acks().occupancy(),
                                        &control_queue_->in().occupancy(),
                                        &completion_->in().occupancy(),
                                        &completion_->completion_queue(),
                                        &probe_engine_->outstanding()};
  for (const auto& port : ports_) {
    buffers.push_back(&port->tx_fifo());
    buffers.push_back(&port->control_fifo());
  }
  return buffers;
}

std::vector<const Occupancy*> Nic::inner_queues() const {
  std::vector<const Occupancy*> queues{&qp_scheduler_->grants().occupancy(), &qp_scheduler_->wqe_requests().occupancy(),
                                       &pcie_->read_queue()};
  for (const auto& port : ports_) queues.push_back(&port->data_queue());
  return queues;
}

}  // namespace mrc::timing
