#include "nic/control/ack_coalescer.h"

#include "nic/control/control_queue.h"

namespace mrc {

AckCoalescer::AckCoalescer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                           ControlQueue& control_queue)
    : Box(name, owner),
      slot("ack_coalescer", nic.rx_work),
      nic_(nic),
      control_queue_(control_queue),
      in_("ack_coalescer.queue", nic.config.nic.ack_coalescer.queue_entries) {
  in_.connect(nullptr, this);
  control_queue_.in().connect(this, &control_queue_);
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
      packet->sack = qp.responder->build_sack(job.trigger, now);
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
      packet->psn = qp.responder->cack_psn();
      break;
  }
  return packet;
}

void AckCoalescer::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  Fifo<Packet*>& out = control_queue_.in();
  if (out.full()) {
    slot.blocked(now, BlockedBy::control_queue);
    out.wait_room(now);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.ack_coalescer.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  slot.busy(now, next_start_);
  out.push(now, build(now, in_.pop(now)), now + nic_.clock.cycles(pipeline.latency_cycles));
  in_.wait_ready(next_start_);
}

}  // namespace mrc
