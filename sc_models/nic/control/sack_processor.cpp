#include "nic/control/sack_processor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "nic/control/completion.h"
#include "nic/control/probe_engine.h"
#include "nic/control/retransmit_timer.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/retransmit_cycles.h"
#include "nic/tx/spray_scheduler.h"

namespace mrc::timing {
namespace {

std::vector<MemoryField> answer_fields() {
  return {kQpField,
          {"cumulative PSN", 24},
          {"SACK offset", 16},
          {"bitmap", 64},
          {"triggering PSN", 16},
          kEvField,
          {"timestamp", 16},
          {"received bytes", 24},
          {"out of order", 15},
          {"penalty", 7},
          {"MPR", 8},
          {"marks", 4}};
}

bool is_of_endpoint(const Packet& packet) {
  return packet.opcode == Opcode::endpoint_request || packet.opcode == Opcode::endpoint_response;
}

const Qp* sending_qp(NicContext& nic, const Packet& packet) {
  const Qp* qp = is_of_endpoint(packet) ? nullptr : nic.find_qp(packet.destination_qp);
  return qp != nullptr && qp->sender ? qp : nullptr;
}

}  // namespace

SackProcessor::SackProcessor(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                             Fifo<Packet*>& in)
    : Box(name, owner,
          {.name = "sack_processor", .part = NicPart::control, .behind = "control_queue", .packets = Handling::ends}),
      slot(*this, nic.tx_work),
      nic_(nic),
      context_memory_(nic.memories[QpScheduler::kContextCache]),
      record_memory_(nic.memories[RetransmitBuffer::kRecords]),
      congestion_memory_(nic.memories[kCongestionState]),
      path_memory_(nic.memories[SprayScheduler::kPathTable]),
      completion_memory_(nic.memories[Completion::kQueue]),
      in_(in),
      needs_contexts_(QpScheduler::evicts_contexts(nic)),
      context_wait_(
          nic, {.box = *this, .slot = slot, .in = in, .qp_of = sending_qp},
          {.name = "sack_processor.context_wait",
           .count = nic.config.nic.sack_processor.context_wait_entries,
           .full = nic.causes.declare("sack_processor.context_wait", {"nic.sack_processor.context_wait_entries"}),
           .is_listed = needs_contexts_}),
      starts_(nic.trace, server_cause(nic, "sack_processor"), nic.causes.declare("sack_processor.queue")) {
  in_.connect(this);
  declare(pipeline_server(nic, "sack_processor", "sack_processor", nic.config.nic.sack_processor.pipeline));
  nic.memories.count(kContextWait, context_wait_.places());
}

void SackProcessor::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  out.add(kQueue, {.depth = nic.node.nic.sack_processor.queue_entries}, answer_fields());
  if (nic.scale.qps > nic.node.nic.qp_scheduler.context_cache_entries)
    out.add(kContextWait, {.depth = nic.node.nic.sack_processor.context_wait_entries}, answer_fields());
  const bool per_qp = nic.protocol.congestion_scope == CongestionScope::qp;
  out.add(kCongestionState, per_qp ? nic.scale.qps : nic.scale.destinations, nic.node.nic.memory.congestion,
          {{"window", 32},
           {"in flight", 32},
           {"saved window", 32},
           {"base RTT", 24},
           {"average delay", 24},
           {"increase", 32},
           {"achieved", 32},
           {"received", 32},
           {"undelayed", 32},
           {"ignored", 32},
           {"quick adapt end", 32},
           {"last decrease", 32},
           {"last fulfil", 32},
           {"flags, last cut", 8}});
}

void SackProcessor::connect(QpScheduler& scheduler, RetransmitBuffer& retransmit_buffer,
                            SprayScheduler& spray_scheduler, RetransmitTimer& timer, Fifo<Cqe>& completions,
                            ProbeEngine& probe_engine) {
  scheduler_ = &scheduler;
  context_wait_.connect(scheduler);
  retransmit_buffer_ = &retransmit_buffer;
  spray_scheduler_ = &spray_scheduler;
  timer_ = &timer;
  completions_ = &completions;
  completion_full_ =
      nic_.causes.declare_full("completion.queue", completions.taker(), {"nic.completion.queue_entries"});
  probe_engine_ = &probe_engine;
}

AckResult SackProcessor::apply(TimePs now, Qp& qp, const Packet& packet) {
  if (packet.opcode == Opcode::sack) learn_paths(qp, packet.sack);
  return qp.sender->on_answer(packet, now);
}

void SackProcessor::learn_paths(Qp& qp, const SackFields& sack) {
  if (sack.probe) probe_engine_->answered(static_cast<std::uint16_t>(sack.ack_psn_offset));
  const EvIndex ev = qp.paths->find(sack.entropy);
  if (ev != kNoEv && sack.mark == PathMark::none) qp.reverse_paths->confirm(qp.paths->plane(ev), sack.entropy);
}

void SackProcessor::dispatch(TimePs now, const Packet& packet) {
  if (is_of_endpoint(packet)) {
    probe_engine_->endpoint_packet(now, packet);
    return;
  }
  Qp* qp = nic_.find_qp(packet.destination_qp);
  if (qp == nullptr || !qp->sender) {
    ++nic_.counters.unknown_qp;
    return;
  }
  const Psn unacked = qp->sender->unacked_psn();
  const AckResult result = apply(now, *qp, packet);
  follow_up(now, *qp, result, packet.last_start);
  next_start_ += access_memories(now, *qp, packet, result.records_freed);
  if (packet.opcode != Opcode::sack) return;
  const std::uint64_t cycles = sack_scan_cycles(unacked, qp->sender->unacked_psn(), packet.sack.sack_bitmap);
  next_start_ = retransmit_buffer_->scan(next_start_, cycles);
}

void SackProcessor::complete(TimePs now, Qp& qp, StartId because) {
  mrc::Completion done;
  while (qp.sender->has_completion()) {
    if (completions_->full()) {
      if (std::find(uncompleted_.begin(), uncompleted_.end(), &qp) == uncompleted_.end()) uncompleted_.push_back(&qp);
      completions_->wait_room(now, *this);
      return;
    }
    qp.sender->pop_completion(done);
    completions_->push(now, {Cqe::Kind::send, nic_.index_of(qp), done.id, 0, done.status, because}, now);
    completion_memory_.write(now, 0);
  }
}

void SackProcessor::responder_failed(TimePs now, Qp& qp) {
  AckResult freed;
  if (!qp.sender || !qp.sender->to_error(freed)) return;
  follow_up(now, qp, freed, starts_.last());
}

void SackProcessor::memory_failed(TimePs now, Qp& qp, const MemoryStructure& memory) {
  nic_.memory_failed(now, memory, fmt::format("QP {} in error: its state is lost", qp.number));
  AckResult freed;
  qp.sender->fail_locally(freed);
  follow_up(now, qp, freed, starts_.last());
}

TimePs SackProcessor::access_memories(TimePs now, Qp& qp, const Packet& packet, std::uint32_t records) {
  const std::uint32_t index = nic_.index_of(qp);
  MemoryAccess worst = context_memory_.update(now, index);
  const MemoryStructure* where = &context_memory_;
  if (worst.failed()) {
    scheduler_->context_failed(now, index);
    worst.delay_ps += static_cast<TimePs>(nic_.config.pcie.read_latency_mean_ns * 1000.0);
  }
  const auto look_at = [&](const MemoryStructure& memory, const MemoryAccess& access) {
    if (access.delay_ps > worst.delay_ps) {
      worst = access;
      where = &memory;
    }
    return access.failed();
  };
  const MemoryStructure* lost_in = nullptr;
  // One record a cycle, from the oldest on.
  const Psn oldest = qp.sender->unacked_psn();
  for (std::uint32_t i = 0; i < records; ++i) {
    const TimePs at = now + i * nic_.clock.period_ps();
    const MemoryAccess record = record_memory_.update(at, oldest + i);
    if (look_at(record_memory_, record)) lost_in = &record_memory_;
  }
  const MemoryAccess window = congestion_memory_.update(now, nic_.index_of(*qp.congestion));
  if (look_at(congestion_memory_, window)) lost_in = &congestion_memory_;
  const MemoryAccess path = path_memory_.update(now, packet.destination_qp);
  if (look_at(path_memory_, path)) rebuild_ev(now, qp, packet);
  slot.stalled(now, worst.delay_ps, where->cause());
  if (lost_in != nullptr) memory_failed(now, qp, *lost_in);
  return worst.delay_ps;
}

void SackProcessor::rebuild_ev(TimePs now, Qp& qp, const Packet& packet) {
  const EvIndex ev = packet.opcode == Opcode::sack ? qp.paths->find(packet.sack.entropy) : kNoEv;
  if (ev == kNoEv) return;
  nic_.memory_failed(now, path_memory_,
                     fmt::format("EV {:#x} of QP {} is rebuilt from the profile and probed before it is used again",
                                 qp.paths->value(ev), qp.number));
  qp.paths->report(ev, PathEvent::always_skip, now);
}

void SackProcessor::follow_up(TimePs now, Qp& qp, const AckResult& result, StartId because) {
  if (qp.sender->state() == QpState::error && qp.receiver) qp.receiver->to_error();
  const std::uint32_t index = nic_.index_of(qp);
  if (result.records_freed > 0) retransmit_buffer_->release(now, result.records_freed, because);
  complete(now, qp, because);
  scheduler_->activate(index, now, because);
  if (!qp.congestion->waiting.empty()) scheduler_->window_opened(*qp.congestion, now, because);
  spray_scheduler_->retry(now, because);
  timer_->update(index, now);
  probe_engine_->update(index, now);
}

bool SackProcessor::first_has_context(TimePs now) {
  if (!needs_contexts_) return true;
  const Qp* qp = sending_qp(nic_, *in_.front());
  if (qp == nullptr) return true;
  const ContextWait::First first = context_wait_.first(now, nic_.index_of(*qp));
  if (first == ContextWait::First::set_aside) {
    begin_service(now);
    in_.wait_ready(next_start_);
  }
  return first == ContextWait::First::here;
}

bool SackProcessor::take_waiting(TimePs now) {
  const std::optional<ContextWait::Waited> waited = context_wait_.take(now);
  if (!waited) return false;
  begin_service(now);
  if (starts_.on()) {
    waited->packet->last_start = starts_.start_after(now, waited->because, scheduler_->context_miss());
  }
  serve(now, waited->packet);
  return true;
}

void SackProcessor::begin_service(TimePs now) {
  next_start_ = now + nic_.clock.cycles(nic_.config.nic.sack_processor.pipeline.initiation_interval_cycles);
}

void SackProcessor::serve(TimePs now, Packet* packet) {
  nic_.box_counters.control_received.add(*packet);
  dispatch(now, *packet);
  slot.busy(now, next_start_);
  nic_.packets.release(packet);
  if (!context_wait_.empty()) wake_at(next_start_);
  in_.wait_ready(next_start_);
}

void SackProcessor::step(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  for (std::vector<Qp*> qps = std::exchange(uncompleted_, {}); Qp * qp : qps) complete(now, *qp, starts_.last());
  const bool waits = !context_wait_.empty();
  if (!waits && !in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  if (completions_->full()) {
    slot.blocked(now, completion_full_);
    completions_->wait_room(now, *this);
    return;
  }
  if (!retransmit_buffer_->has_judged()) {
    slot.blocked(now, retransmit_buffer_->busy());
    retransmit_buffer_->wait_rtl(*this);
    return;
  }
  if (waits && take_waiting(now)) return;
  if (!in_.ready(now)) {
    slot.blocked(now, scheduler_->context_miss());
    in_.wait_ready(now);
    return;
  }
  if (!first_has_context(now)) return;
  begin_service(now);
  starts_.start_after_block(now, slot, in_.front()->last_start, in_.ready_at(), retransmit_buffer_->busy());
  serve(now, context_wait_.pop(now));
}

}  // namespace mrc::timing
