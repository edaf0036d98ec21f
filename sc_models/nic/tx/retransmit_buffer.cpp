#include "nic/tx/retransmit_buffer.h"

#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_cycles.h"

namespace mrc::timing {

RetransmitBuffer::RetransmitBuffer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic)
    : Box(name, owner),
      slot("retransmit_buffer", nic.tx_work),
      nic_(nic),
      out_("retransmit_buffer.queue", nic.config.nic.retransmit_buffer.queue_entries),
      entries_("retransmit_buffer.entries", "entries", nic.config.nic.retransmit_buffer.entries),
      bytes_("retransmit_buffer.bytes", "bytes", nic.config.nic.retransmit_buffer.bytes) {}

void RetransmitBuffer::connect(Fifo<TxPacket>& in, QpScheduler& scheduler) {
  in_ = &in;
  in_->connect(this);
  scheduler_ = &scheduler;
}

bool RetransmitBuffer::stores_payload() const {
  return nic_.config.nic.retransmit_buffer.store == RetransmitStore::payload;
}

bool RetransmitBuffer::has_entry(TimePs) const {
  return entries_.fits(1) && (!stores_payload() || bytes_.fits(nic_.scenario.protocol.mtu_bytes));
}

void RetransmitBuffer::reserve_entry(TimePs now) {
  entries_.add(now, 1);
  if (stores_payload()) bytes_.add(now, nic_.scenario.protocol.mtu_bytes);
}

void RetransmitBuffer::release(TimePs now, std::uint32_t packets) {
  entries_.remove(now, packets);
  if (stores_payload()) bytes_.remove(now, std::uint64_t{packets} * nic_.scenario.protocol.mtu_bytes);
  for (const std::uint32_t qp : waiting_) {
    nic_.qps[qp].waits_for_entries = false;
    scheduler_->activate(qp, now);
  }
  waiting_.clear();
}

void RetransmitBuffer::wait_entry(TimePs now, std::uint32_t qp) {
  entries_.refuse(now);
  if (nic_.qps[qp].waits_for_entries) return;
  nic_.qps[qp].waits_for_entries = true;
  waiting_.push_back(qp);
}

TimePs RetransmitBuffer::store_payload(TimePs now, const TxPacket& tx) {
  if (!stores_payload() || (tx.from_sram && tx.packet->retransmission)) return 0;
  const TimePs delay =
      nic_.memories[MemoryId::retransmit_payload].write_stream(now, 0, tx.packet->payload_bytes).delay_ps;
  slot.stalled(now, delay, waits_for(MemoryId::retransmit_payload));
  return delay;
}

void RetransmitBuffer::step(TimePs now) {
  if (now < next_start_) {
    if (now < held_until_ && in_->ready(now)) slot.blocked(now, waits_for(MemoryId::retransmit_records));
    wake_at(next_start_);
    return;
  }
  if (!in_->ready(now)) {
    slot.empty(now);
    in_->wait_ready(now);
    return;
  }
  if (out_.full()) {
    slot.blocked(now, BlockedBy::encap_queue);
    out_.wait_room(now, *this);
    return;
  }
  const PipelineConfig& pipeline = nic_.config.nic.retransmit_buffer.pipeline;
  const TimePs delay = store_payload(now, in_->front());
  const std::uint64_t taking = in_->front().packet->retransmission ? kTakeCycles - 1 : 0;
  next_start_ = now + delay + nic_.clock.cycles(pipeline.initiation_interval_cycles + taking);
  slot.busy(now, next_start_);
  out_.push(now, in_->pop(now), now + delay + nic_.clock.cycles(pipeline.latency_cycles));
  in_->wait_ready(next_start_);
}

}  // namespace mrc::timing
