#include "nic/tx/retransmit_buffer.h"

#include <utility>

#include "engine/latency_account.h"
#include "nic/control/retransmit_timer.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_cycles.h"

namespace mrc::timing {
namespace {

/// Packets that may be without an entry, so that one place of payload_fetch and room in the completion buffer are left.
std::uint32_t most_asked(const NicContext& nic) {
  const std::uint32_t places = nic.config.nic.payload_fetch.queue_entries - 1;
  const std::uint64_t bytes = nic.config.pcie.completion_buffer_bytes - nic.config.pcie.mrrs_bytes;
  const std::uint64_t payloads = bytes / nic.scenario.protocol.mtu_bytes - 1;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(places, payloads));
}

}  // namespace

RetransmitBuffer::RetransmitBuffer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic)
    : Box(name, owner,
          {.name = "retransmit_buffer",
           .part = NicPart::transmit,
           .behind = "spray_scheduler",
           .packets = Handling::passes}),
      slot(*this, nic.tx_work),
      nic_(nic),
      record_memory_(nic.memories[kRecords]),
      payload_memory_(payload_memory(nic)),
      records_at_arrival_(nic.config.nic.retransmit_buffer.reserve_record == RecordReservation::at_arrival),
      takes_at_arrival_(mrc::takes_at_arrival(nic.config.nic.retransmit_buffer)),
      most_asked_(most_asked(nic)),
      entries_(*this, "retransmit_buffer.entries", "entries", nic.config.nic.retransmit_buffer.entries),
      bytes_(*this, "retransmit_buffer.bytes", "bytes", nic.config.nic.retransmit_buffer.bytes),
      out_(*this, "retransmit_buffer.queue", nic.config.nic.retransmit_buffer.queue_entries),
      out_full_(
          nic.causes.declare_full("retransmit_buffer.queue", out_.taker(), {"nic.retransmit_buffer.queue_entries"})),
      no_entry_(nic.causes.declare("retransmit_buffer.entries", {"nic.retransmit_buffer.entries"})),
      no_bytes_(nic.causes.declare("retransmit_buffer.bytes", {"nic.retransmit_buffer.bytes"})),
      all_asked_(nic.causes.declare("payload_fetch.queue", {"nic.payload_fetch.queue_entries"})),
      starts_(nic.trace, server_cause(nic, "retransmit_buffer"), nic.causes.declare("spray_scheduler.queue")) {
  nic.memories.count(kQueue, out_.occupancy());
  declare(pipeline_server(nic, "retransmit_buffer", "retransmit_buffer", nic.config.nic.retransmit_buffer.pipeline));
  declare(DeclaredTokens{.cause = no_entry_,
                         .capacity = entries_.capacity(),
                         .unit = entries_.unit(),
                         .taken_by = records_at_arrival_ ? "payload_fetch" : "segmenter",
                         .returned_by = "sack_processor",
                         .way = TokenWay::network});
  if (!stores_payload()) return;
  declare(DeclaredTokens{.cause = no_bytes_,
                         .capacity = bytes_.capacity(),
                         .unit = bytes_.unit(),
                         .taken_by = "payload_fetch",
                         .returned_by = "sack_processor",
                         .way = TokenWay::network});
}

MemoryStructure* RetransmitBuffer::payload_memory(NicContext& nic) {
  const bool stored = nic.config.nic.retransmit_buffer.store == RetransmitStore::payload;
  return stored ? &nic.memories[kPayload] : nullptr;
}

void RetransmitBuffer::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const NicConfig& config = nic.node.nic;
  out.add(kRecords, config.retransmit_buffer.entries, config.memory.retransmit_records,
          {kPsnField,
           kQpField,
           {"time", 32},  // 1 ns units, 4.3 s until it wraps
           {"EV index", bits_for(nic.protocol.ev_count - 1)},
           {"nominal length", 15},
           {"WQE index", bits_for(config.wqe_fetch.prefetch_depth)},
           {"message offset", 32},
           {"order of sending", 24},
           {"transmissions", 8},
           {"timeouts", 5},
           {"state", 2},
           {"cause of loss", 4}});
  if (config.retransmit_buffer.store == RetransmitStore::payload) {
    out.add(kPayload, nic.datapath_words(config.retransmit_buffer.bytes), config.memory.retransmit_payload,
            {{"payload", config.datapath_bits}});
  }
  out.add(kQueue, {.depth = config.retransmit_buffer.queue_entries},
          transmit_descriptor({kBufferPointerField, kEvField, kPlaneField}));
}

void RetransmitBuffer::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().retransmit_buffer.pipeline.latency_cycles);
}

void RetransmitBuffer::connect(Fifo<TxPacket>& in, QpScheduler& scheduler) {
  in_ = &in;
  in_->connect(this);
  scheduler_ = &scheduler;
  context_.connect(scheduler);
}

void RetransmitBuffer::clock_by_pins(RetransmitBufferRtlPath& rtl, RetransmitTimer& timer) {
  rtl_ = &rtl;
  rtl.wake(*this);
  timer_ = &timer;
  busy_ = server_cause(nic_, "retransmit_buffer");
}

Cause RetransmitBuffer::missing() const {
  if (!entries_.fits(1)) return no_entry_;
  if (stores_payload() && !bytes_.fits(nic_.scenario.protocol.mtu_bytes)) return no_bytes_;
  return all_asked_;
}

bool RetransmitBuffer::has_entry(TimePs) const {
  return (records_at_arrival_ || entries_.fits(1)) && (!takes_at_arrival_ || asked_ < most_asked_);
}

void RetransmitBuffer::reserve_entry(TimePs now) {
  if (!records_at_arrival_) entries_.add(now, 1);
  if (takes_at_arrival_) ++asked_;
}

bool RetransmitBuffer::take_at_arrival(TimePs now, StartId because) {
  const std::uint32_t mtu_bytes = nic_.scenario.protocol.mtu_bytes;
  if (records_at_arrival_ && !entries_.fits(1)) {
    entries_.refuse(now);
    return false;
  }
  if (stores_payload() && !bytes_.fits(mtu_bytes)) {
    bytes_.refuse(now);
    return false;
  }
  if (records_at_arrival_) entries_.add(now, 1);
  if (stores_payload()) bytes_.add(now, mtu_bytes);
  --asked_;
  wake_waiting(now, because);
  return true;
}

void RetransmitBuffer::release(TimePs now, std::uint32_t packets, StartId because) {
  entries_.remove(now, packets);
  if (stores_payload()) bytes_.remove(now, std::uint64_t{packets} * nic_.scenario.protocol.mtu_bytes);
  if (takes_at_arrival_) {
    nic_.trace.give(no_entry_, because);
    nic_.trace.give(no_bytes_, because);
    arrivals_->entries_free(now, because);
  }
  wake_waiting(now, because);
  if (by_pins()) wake_at(now);
}

TimePs RetransmitBuffer::scan(TimePs from, std::uint64_t cycles) {
  if (by_pins()) return from;
  held_until_ = from + nic_.clock.cycles(cycles);
  next_start_ = std::max(next_start_, held_until_);
  return held_until_;
}

void RetransmitBuffer::wake_waiting(TimePs now, StartId because) {
  for (const std::uint32_t qp : waiting_) {
    nic_.qps[qp].waits_for_entries = false;
    scheduler_->activate(qp, now, because);
  }
  waiting_.clear();
}

void RetransmitBuffer::wait_entry(TimePs now, std::uint32_t qp) {
  if (!records_at_arrival_) entries_.refuse(now);
  if (nic_.qps[qp].waits_for_entries) return;
  nic_.qps[qp].waits_for_entries = true;
  waiting_.push_back(qp);
}

TimePs RetransmitBuffer::store_payload(TimePs now, const TxPacket& tx) {
  if (!stores_payload() || (tx.from_sram && tx.packet->retransmission)) return 0;
  const TimePs delay = payload_memory_->write_stream(now, 0, tx.packet->payload_bytes).delay_ps;
  slot.stalled(now, delay, payload_memory_->cause());
  return delay;
}

void RetransmitBuffer::for_each_packet_held(const PacketVisitor& visit) const {
  passing_.for_each_packet(visit);
}

bool RetransmitBuffer::first_has_context(TimePs now) {
  const TxPacket& first = in_->front();
  if (context_.may_use(now, first.qp, first.packet->last_start)) return true;
  slot.blocked(now, context_.waits_for());
  return false;
}

void RetransmitBuffer::mark_sent(TimePs now) {
  if (!in_->ready(now) || !rtl_->has_room(RetransmitOp::sent)) return;
  if (!out_.has_room_for(passing_.count() + 1)) {
    slot.blocked(now, out_full_);
    out_.wait_room(now, *this);
    return;
  }
  if (!first_has_context(now)) return;
  const TimePs ready_at = in_->ready_at();
  const TxPacket tx = in_->pop(now);
  passing_.give({.tx = tx, .ready_at = ready_at});
  Qp& qp = nic_.qps[tx.qp];
  qp.sender->transmitted(tx.packet->psn, qp.paths->find(tx.packet->ev), now);
  timer_->update(tx.qp, now);
}

void RetransmitBuffer::begin_by_pins(TimePs now) {
  PassingPackets::Passing& passing = passing_.begin();
  passing.delay = store_payload(now, passing.tx);
  starts_.start(now, slot, passing.tx.packet->last_start, passing.ready_at);
  starts_.stall(passing.delay, slot);
  slot.busy(now, next_start_ + passing.delay);
}

void RetransmitBuffer::pass_by_pins(TimePs now) {
  const PassingPackets::Passing passing = passing_.leave();
  out_.push(now, passing.tx, now + passing.delay);
}

void RetransmitBuffer::wake_boxes(TimePs now) {
  for (Box* box : std::exchange(waiting_boxes_, {})) box->wake_at(now);
}

/// A cycle of the RTL's clock at each edge of the core clock, until it is empty.
void RetransmitBuffer::step_by_pins(TimePs now) {
  const TimePs edge = std::max(nic_.clock.edge(now), next_start_);
  if (now < edge) {
    wake_at(edge);
    return;
  }
  mark_sent(now);
  if (rtl_->is_idle()) {
    if (in_->ready(now)) return;  // it waits for room behind, or for its context
    slot.empty(now);
    in_->wait_ready(now);
    return;
  }
  next_start_ = now + nic_.clock.period_ps();
  const std::uint64_t cycle = nic_.clock.edge_index(now);
  const PinCycle pins = rtl_->clock(cycle);
  if (pins.begun && rtl_->begun() == RetransmitOp::sent) {
    begin_by_pins(now);
  } else if (rtl_->was_occupied()) {
    if (next_start_ > slot.busy_until()) slot.busy(now, next_start_);
  } else if (!in_->ready(now)) {
    slot.empty(now);
  }
  if (pins.last_out && rtl_->conclude(cycle) == RetransmitOp::sent) pass_by_pins(now);
  if (pins.begun || pins.last_out) wake_boxes(now);
  wake_at(next_start_);
}

void RetransmitBuffer::step(TimePs now) {
  if (by_pins()) {
    step_by_pins(now);
    return;
  }
  if (now < next_start_) {
    if (now < held_until_ && in_->ready(now)) slot.blocked(now, record_memory_.cause());
    wake_at(next_start_);
    return;
  }
  if (!in_->ready(now)) {
    slot.empty(now);
    in_->wait_ready(now);
    return;
  }
  if (out_.full()) {
    slot.blocked(now, out_full_);
    out_.wait_room(now, *this);
    return;
  }
  if (!first_has_context(now)) return;
  const PipelineConfig& pipeline = nic_.config.nic.retransmit_buffer.pipeline;
  const TimePs delay = store_payload(now, in_->front());
  const std::uint64_t taking = in_->front().packet->retransmission ? kTakeCycles - 1 : 0;
  next_start_ = now + delay + nic_.clock.cycles(pipeline.initiation_interval_cycles + taking);
  starts_.start_after_block(now, slot, in_->front().packet->last_start, in_->ready_at(), record_memory_.cause());
  starts_.stall(delay, slot);
  slot.busy(now, next_start_);
  out_.push(now, in_->pop(now), now + delay + nic_.clock.cycles(pipeline.latency_cycles));
  in_->wait_ready(next_start_);
}

}  // namespace mrc::timing
