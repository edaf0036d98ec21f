#include "nic/control/ack_coalescer.h"

#include <algorithm>

#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"

namespace mrc::timing {
namespace {

/// Between psn_tracker and the RTL of the triggers.
constexpr std::uint32_t kEvents = 8;

}  // namespace

AckTriggers::AckTriggers(Box& box, NicContext& nic, AckCoalescerRtlPath& rtl, Fifo<AckJob>& owed)
    : box_(box),
      nic_(nic),
      rtl_(rtl),
      owed_(owed),
      events_(box, "ack_coalescer.events", kEvents),
      slot_(box, nic.rx_work, "triggers"),
      events_full_(nic.causes.declare_full("ack_coalescer.events", events_.taker())),
      owed_full_(nic.causes.declare_full("ack_coalescer.queue", owed.taker(), {"nic.ack_coalescer.queue_entries"})),
      starts_(nic.trace, server_cause(nic, "ack_coalescer"), events_full_) {
  events_.connect(&box);
}

void AckTriggers::begin(TimePs now) {
  const TimePs ready_at = events_.ready_at();
  StartId because = events_.pop(now).because;
  starts_.start(now, slot_, because, ready_at);
  rtl_.pins().newest().because = because;
  slot_.busy(now, next_cycle_);
}

/// A cycle of the RTL's clock at each edge of the core clock, until it is empty.
void AckTriggers::step(TimePs now) {
  const TimePs edge = std::max(nic_.clock.edge(now), next_cycle_);
  if (now < edge) {
    box_.wake_at(edge);
    return;
  }
  if (rtl_.pins().is_free() && events_.ready(now)) rtl_.offer(events_.front());
  if (rtl_.pins().is_idle()) {
    slot_.empty(now);
    events_.wait_ready(now);
    return;
  }
  next_cycle_ = now + nic_.clock.period_ps();
  const std::uint64_t cycle = nic_.clock.edge_index(now);
  const PinCycle pins = rtl_.clock(nic_, cycle, !owed_.full());
  if (pins.begun) {
    begin(now);
  } else if (pins.out_waits) {
    slot_.blocked(now, owed_full_);
  } else if (rtl_.pins().was_occupied()) {
    slot_.busy(now, next_cycle_);
  } else {
    slot_.empty(now);
  }
  if (pins.last_out) {
    AckJob job;
    job.qp = rtl_.pins().oldest().qp;
    job.because = rtl_.pins().oldest().because;
    job.trigger = rtl_.trigger(nic_, cycle);
    owed_.push(now, job, now);
  }
  box_.wake_at(next_cycle_);
}

AckCoalescer::AckCoalescer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                           Fifo<ControlPacket>& out, PsnTrackerRtlPath* psn_tracker_rtl, AckCoalescerRtlPath* rtl)
    : Box(name, owner,
          {.name = "ack_coalescer", .part = NicPart::control, .behind = "dma_write", .packets = Handling::makes}),
      slot(*this, nic.rx_work),
      nic_(nic),
      out_(out),
      psn_tracker_rtl_(psn_tracker_rtl),
      in_(*this, "ack_coalescer.queue", nic.config.nic.ack_coalescer.queue_entries),
      transport_acks_(*this, "ack_coalescer.transport_acks", nic.config.nic.ack_coalescer.queue_entries),
      out_full_(nic.causes.declare_full("control_queue", out.taker(), {"nic.control_queue.entries"})),
      starts_(nic.trace, server_cause(nic, "ack_coalescer"), nic.causes.declare("ack_coalescer.queue")),
      reads_by_pins_(psn_tracker_rtl != nullptr && psn_tracker_rtl->by_pins()) {
  in_.connect(this);
  if (reads_by_pins_) {
    psn_tracker_rtl->contents().connect(this);
    reads_full_ = nic.causes.declare_full("psn_tracker.sack_reads", psn_tracker_rtl->reads().taker());
  }
  declare(pipeline_server(nic, "ack_coalescer", "ack_coalescer", nic.config.nic.ack_coalescer.pipeline));
  transport_acks_.connect(this);
  if (rtl != nullptr && rtl->by_pins()) triggers_ = std::make_unique<AckTriggers>(*this, nic, *rtl, in_);
  nic.memories.count(kQueue, in_.occupancy());
  nic.memories.count(kTransportAcks, transport_acks_.occupancy());
}

void AckCoalescer::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const MemoryGeometry queue{.depth = nic.node.nic.ack_coalescer.queue_entries};
  out.add(kQueue, queue, {kQpField, kPsnField, kEvField, {"timestamp", 16}, {"kind, reason, marks", 12}});
  out.add(kTransportAcks, queue, {kQpField, kMsnField});
}

Packet* AckCoalescer::new_packet(const Qp& qp) {
  Packet* packet = nic_.packets.acquire();
  packet->source_node = nic_.node;
  packet->destination_node = qp.peer;
  packet->destination_qp = qp.peer_number;
  packet->role = TrafficRole::control;
  packet->has_timestamp = false;
  return packet;
}

Packet* AckCoalescer::build_sack(Qp& qp, const SackFields& sack) {
  Packet* packet = new_packet(qp);
  packet->opcode = Opcode::sack;
  packet->sack = sack;
  packet->psn = sack.cack_psn;
  ++nic_.counters.sacks_sent;
  return packet;
}

Packet* AckCoalescer::build(TimePs now, const AckJob& job) {
  Qp& qp = nic_.qps[job.qp];
  if (job.kind == AckJob::Kind::sack) {
    return build_sack(qp, psn_tracker_rtl_ == nullptr ? qp.receiver->build_sack(job.trigger, now)
                                                      : psn_tracker_rtl_->build_sack(nic_, qp, job.trigger, now));
  }
  Packet* packet = new_packet(qp);
  switch (job.kind) {
    case AckJob::Kind::sack:
      break;
    case AckJob::Kind::nack:
      packet->opcode = Opcode::nack;
      packet->nack = job.nack;
      packet->psn = job.nack.nack_psn;
      ++nic_.counters.nacks_sent;
      break;
    case AckJob::Kind::transport_ack:
      packet->opcode = Opcode::transport_ack;
      packet->transport_ack = job.transport_ack;
      packet->psn = qp.receiver->cack_psn();
      break;
  }
  return packet;
}

/// Behind RTL that is clocked by its pins, a SACK has had the cycles of its trigger: what is left is psn_tracker's.
std::uint64_t AckCoalescer::latency_cycles(const AckJob& job) const {
  const bool read_only = triggers_ != nullptr && job.kind == AckJob::Kind::sack;
  return read_only ? nic_.config.nic.psn_tracker.pipeline.latency_cycles
                   : nic_.config.nic.ack_coalescer.pipeline.latency_cycles;
}

void AckCoalescer::wait_for_job(TimePs not_before) {
  in_.wait_ready(not_before);
  transport_acks_.wait_ready(not_before);
}

void AckCoalescer::send_read(TimePs now) {
  Fifo<SackRead>& contents = psn_tracker_rtl_->contents();
  while (contents.ready(now)) {
    if (out_.full()) {
      out_.wait_room(now, *this);
      return;
    }
    const SackRead read = contents.pop(now);
    Packet* packet = build_sack(nic_.qps[read.qp], read.sack);
    packet->last_start = read.because;
    const PipelineConfig& tracker = nic_.config.nic.psn_tracker.pipeline;
    const std::uint32_t box = nic_.config.nic.ack_coalescer.pipeline.latency_cycles;
    const bool triggered = triggers_ != nullptr || box < tracker.latency_cycles;
    out_.push(now, {packet, read.qp}, now + nic_.clock.cycles(triggered ? 0 : box - tracker.latency_cycles));
  }
  contents.wait_ready(now);
}

void AckCoalescer::step(TimePs now) {
  if (triggers_ != nullptr) triggers_->step(now);
  if (reads_by_pins_) send_read(now);
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  Fifo<AckJob>& source = transport_acks_.ready(now) ? transport_acks_ : in_;
  if (!source.ready(now)) {
    slot.empty(now);
    wait_for_job(now);
    return;
  }
  if (out_.full()) {
    slot.blocked(now, out_full_);
    out_.wait_room(now, *this);
    return;
  }
  const bool reads = reads_by_pins_ && source.front().kind == AckJob::Kind::sack;
  if (reads && psn_tracker_rtl_->reads().full()) {
    slot.blocked(now, reads_full_);
    psn_tracker_rtl_->reads().wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.ack_coalescer.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  const TimePs ready_at = source.ready_at();
  AckJob job = source.pop(now);
  starts_.start(now, slot, job.because, ready_at);
  slot.busy(now, next_start_);
  wait_for_job(next_start_);
  if (reads) {
    psn_tracker_rtl_->reads().push(now, {job.qp, job.trigger, job.because, {}}, now + nic_.clock.period_ps());
    return;
  }
  Packet* packet = build(now, job);
  packet->last_start = job.because;
  out_.push(now, {packet, job.qp}, now + nic_.clock.cycles(latency_cycles(job)));
}

}  // namespace mrc::timing
