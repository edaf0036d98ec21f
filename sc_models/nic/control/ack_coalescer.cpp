#include "nic/control/ack_coalescer.h"

#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"

namespace mrc::timing {

AckCoalescer::AckCoalescer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                           Fifo<ControlPacket>& out, PsnTrackerRtlPath* psn_tracker_rtl)
    : Box(name, owner,
          {.name = "ack_coalescer", .part = NicPart::control, .behind = "dma_write", .packets = Handling::makes}),
      slot(*this, nic.rx_work),
      nic_(nic),
      out_(out),
      psn_tracker_rtl_(psn_tracker_rtl),
      in_(*this, "ack_coalescer.queue", nic.config.nic.ack_coalescer.queue_entries),
      transport_acks_(*this, "ack_coalescer.transport_acks", nic.config.nic.ack_coalescer.queue_entries),
      out_full_(nic.causes.declare_full("control_queue", out.taker(), {"nic.control_queue.entries"})),
      starts_(nic.trace, server_cause(nic, "ack_coalescer"), nic.causes.declare("ack_coalescer.queue")) {
  in_.connect(this);
  declare(pipeline_server(nic, "ack_coalescer", "ack_coalescer", nic.config.nic.ack_coalescer.pipeline));
  transport_acks_.connect(this);
  nic.memories.count(kQueue, in_.occupancy());
  nic.memories.count(kTransportAcks, transport_acks_.occupancy());
}

void AckCoalescer::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const MemoryGeometry queue{.depth = nic.node.nic.ack_coalescer.queue_entries};
  out.add(kQueue, queue, {kQpField, kPsnField, kEvField, {"timestamp", 16}, {"kind, reason, marks", 12}});
  out.add(kTransportAcks, queue, {kQpField, kMsnField});
}

Packet* AckCoalescer::build(TimePs now, const AckJob& job) {
  Qp& qp = nic_.qps[job.qp];
  Packet* packet = nic_.packets.acquire();
  packet->source_node = nic_.node;
  packet->destination_node = qp.peer;
  packet->destination_qp = qp.peer_number;
  packet->role = TrafficRole::control;
  packet->has_timestamp = false;
  switch (job.kind) {
    case AckJob::Kind::sack:
      packet->opcode = Opcode::sack;
      packet->sack = psn_tracker_rtl_ == nullptr ? qp.receiver->build_sack(job.trigger, now)
                                                 : psn_tracker_rtl_->build_sack(nic_, qp, job.trigger, now);
      packet->psn = packet->sack.cack_psn;
      ++nic_.counters.sacks_sent;
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

void AckCoalescer::wait_for_job(TimePs not_before) {
  in_.wait_ready(not_before);
  transport_acks_.wait_ready(not_before);
}

void AckCoalescer::step(TimePs now) {
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
  const PipelineConfig& pipeline = nic_.config.nic.ack_coalescer.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  const TimePs ready_at = source.ready_at();
  AckJob job = source.pop(now);
  starts_.start(now, slot, job.because, ready_at);
  slot.busy(now, next_start_);
  Packet* packet = build(now, job);
  packet->last_start = job.because;
  out_.push(now, {packet, job.qp}, now + nic_.clock.cycles(pipeline.latency_cycles));
  wait_for_job(next_start_);
}

}  // namespace mrc::timing
