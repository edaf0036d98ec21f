#include "nic/tx/segmenter.h"

#include <algorithm>

#include "engine/latency_account.h"
#include "nic/control/sack_processor.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/retransmit_buffer.h"

namespace mrc::timing {

Segmenter::Segmenter(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, QpScheduler& scheduler,
                     RetransmitBuffer& retransmit_buffer)
    : Box(name, owner,
          {.name = "segmenter", .part = NicPart::transmit, .behind = "wqe_fetch", .packets = Handling::makes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      record_memory_(nic.memories[RetransmitBuffer::kRecords]),
      congestion_memory_(nic.memories[SackProcessor::kCongestionState]),
      scheduler_(scheduler),
      retransmit_buffer_(retransmit_buffer),
      out_(*this, "segmenter.queue", nic.config.nic.segmenter.queue_entries, nic.queue_classes(),
           {.maker = "segmenter"}),
      out_full_(nic.causes.declare_full("segmenter.queue", out().taker(), {"nic.segmenter.queue_entries"})),
      starts_(nic.trace, server_cause(nic, "segmenter")) {
  scheduler_.grants().connect(this);
  scheduler_.give_grants_to(*this);
  declare(pipeline_server(nic, "segmenter", "segmenter", nic.config.nic.segmenter.pipeline));
  nic.memories.count(kQueue, out().occupancy());
}

void Segmenter::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  out.add(kQueue, {.depth = nic.node.nic.segmenter.queue_entries}, transmit_descriptor());
}

void Segmenter::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().segmenter.pipeline.latency_cycles);
}

bool Segmenter::may_send(TimePs now, const Qp& qp) {
  if (grant_.quantum_bytes == 0) return false;
  next_ = qp.sender->next(now);
  if (next_.gate != SendGate::ready) return false;
  return next_.retransmission || retransmit_buffer_.has_entry(now);
}

bool Segmenter::access_memories(TimePs now, Qp& qp, TimePs& delay) {
  const MemoryAccess record =
      next_.retransmission ? record_memory_.read(now, next_.psn) : record_memory_.write(now, next_.psn);
  const MemoryAccess window = congestion_memory_.update(now, nic_.index_of(*qp.congestion));
  delay = std::max(record.delay_ps, window.delay_ps);
  slot.stalled(now, delay, (record.delay_ps >= window.delay_ps ? record_memory_ : congestion_memory_).cause());
  if (!record.failed() && !window.failed()) return true;
  sack_processor_->memory_failed(now, qp, record.failed() ? record_memory_ : congestion_memory_);
  return false;
}

void Segmenter::emit(TimePs now, Qp& qp) {
  const PipelineConfig& pipeline = nic_.config.nic.segmenter.pipeline;
  TimePs delay = 0;
  if (!access_memories(now, qp, delay)) return;
  if (!next_.retransmission) retransmit_buffer_.reserve_entry(now);
  const SendPlan plan = qp.sender->take(now);
  Packet* packet = nic_.packets.acquire();
  packet->source_node = nic_.node;
  packet->destination_node = qp.peer;
  packet->destination_qp = qp.peer_number;
  packet->psn = plan.psn;
  packet->va = plan.va;
  packet->rkey = plan.rkey;
  packet->dma_length = plan.dma_length;
  packet->immediate = plan.immediate;
  packet->msn = plan.msn;
  packet->rqmsn = plan.rqmsn;
  packet->opcode = plan.opcode;
  packet->payload_bytes = plan.payload_bytes;
  packet->ack_request = plan.ack_request;
  packet->traffic_class = qp.traffic_class & (kMostTrafficClasses - 1);
  packet->without_srh = qp.without_srh;
  packet->retransmission = plan.retransmission;
  if (!plan.retransmission && ends_message(plan.opcode)) scheduler_.hold_wqes(now, qp, -1);
  packet->loss_cause = static_cast<std::uint8_t>(plan.lost_by);
  packet->role = plan.retransmission ? TrafficRole::trimmable_retx : TrafficRole::trimmable;
  if (!nic_.scenario.protocol.trim_nack) packet->role = TrafficRole::no_trim;
  nic_.box_counters.segmented.add(*packet);
  packet->timestamp_in_us = nic_.scenario.protocol.timestamp_in_us;
  grant_.quantum_bytes -= std::min(grant_.quantum_bytes, std::max<std::uint32_t>(plan.payload_bytes, 1));
  const bool turn_ends = grant_.quantum_bytes == 0 && scheduler_.others_wait(now);
  if (turn_ends && nic_.config.nic.qp_scheduler.ack_request_at_turn_end) packet->ack_request = true;
  next_start_ = now + delay + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  packet->last_start = grant_.start;
  starts_.start_after_block(now, slot, packet->last_start, grant_ready_at_, retransmit_buffer_.busy());
  starts_.stall(delay, slot);
  slot.busy(now, next_start_);
  out_.of(qp.traffic_class)
      .push(now, {packet, plan.local_address, nic_.index_of(qp), false},
            now + delay + nic_.clock.cycles(pipeline.latency_cycles));
}

void Segmenter::give_back(TimePs now) {
  has_grant_ = false;
  scheduler_.grant_done(grant_.qp, now, starts_.last(), grant_.quantum_bytes);
}

void Segmenter::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!has_grant_ && scheduler_.grants().ready(now)) {
    grant_ready_at_ = scheduler_.grants().ready_at();
    grant_ = scheduler_.grants().pop(now);
    nic_.trace.give(scheduler_.grants_full(), starts_.last());
    has_grant_ = true;
  }
  if (!has_grant_) {
    slot.empty(now);
    scheduler_.grants().wait_ready(now);
    return;
  }
  Qp& qp = nic_.qps[grant_.qp];
  const bool yields = scheduler_.more_urgent_waits(now, qp.traffic_class);
  Fifo<TxPacket>& out = out_.of(qp.traffic_class);
  if (!yields && out.full()) {
    slot.blocked(now, out_full_);
    out.wait_room(now, *this);
    return;
  }
  if (!yields && !retransmit_buffer_.has_room_for_command()) {
    slot.blocked(now, retransmit_buffer_.busy());
    retransmit_buffer_.wait_rtl(*this);
    return;
  }
  if (!yields && may_send(now, qp)) emit(now, qp);
  if (yields || !may_send(now, qp)) give_back(now);
  wake_at(std::max(next_start_, now));
  if (!has_grant_ && scheduler_.grants().empty()) scheduler_.grants().wait_ready(next_start_);
}

}  // namespace mrc::timing
