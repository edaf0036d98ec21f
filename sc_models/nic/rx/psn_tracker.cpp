#include "nic/rx/psn_tracker.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "mrc/rx/receiver_penalty.h"
#include "nic/control/probe_engine.h"
#include "nic/control/sack_processor.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {
namespace {

/// That a packet brings about.
constexpr std::uint32_t kMostAnswers = 3;

/// A packet between parser and dma_write.
std::vector<MemoryField> receive_descriptor() {
  return {kQpField,
          kPsnField,
          kVaField,
          kRkeyField,
          kDmaLengthField,
          kOpcodeField,
          kImmediateField,
          kMsnField,
          kEvField,
          kLengthField,
          kPlaneField,
          {"timestamp", 16},
          {"ECN, trimmed, AckReq", 4},
          kBufferPointerField};
}

const Qp* receiving_qp(NicContext& nic, const Packet& packet) {
  const Qp* qp = nic.find_qp(packet.destination_qp);
  return qp != nullptr && qp->receiver ? qp : nullptr;
}

}  // namespace

PsnTracker::PsnTracker(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Fifo<Packet*>& in,
                       DmaWrite& dma_write, Fifo<AckJob>& answers, PsnTrackerRtlPath* rtl, AckCoalescerRtlPath* ack_rtl,
                       AckTriggers* triggers)
    : Box(name, owner,
          {.name = "psn_tracker",
           .part = NicPart::receive,
           .behind = nic.scenario.protocol.encryption.on() ? "decrypt" : "parser",
           .packets = Handling::ends}),
      slot(*this, nic.rx_work),
      nic_(nic),
      context_memory_(nic.memories[QpScheduler::kContextCache]),
      bitmap_memory_(nic.memories[kBitmap]),
      staging_memory_(nic.memories[DmaWrite::kStaging]),
      free_banks_(nic.memories[kFreeBanks]),
      in_(in),
      dma_write_(dma_write),
      answers_(answers),
      rtl_(rtl),
      ack_rtl_(ack_rtl),
      triggers_(triggers),
      context_wait_(nic, {.box = *this, .slot = slot, .in = in, .qp_of = receiving_qp},
                    {.name = "psn_tracker.context_wait",
                     .count = nic.config.nic.psn_tracker.context_wait_entries,
                     .full = nic.causes.declare("psn_tracker.context_wait", {"nic.psn_tracker.context_wait_entries"})}),
      bitmap_(*this, "psn_tracker.bitmap", "banks", nic.config.nic.psn_tracker.bitmap_banks),
      answers_full_(
          nic.causes.declare_full("ack_coalescer.queue", answers.taker(), {"nic.ack_coalescer.queue_entries"})),
      starts_(nic.trace, server_cause(nic, "psn_tracker"), nic.causes.declare("psn_tracker.queue")),
      sack_threshold_(nic.causes.declare("sack_threshold", {"protocol.sack_threshold_bytes"})),
      sack_place_(nic.trace.new_place()) {
  if (rtl_ != nullptr) {
    by_pins_ = rtl_->by_pins();
    rtl_->reads().connect(this);
  }
  in_.connect(this);
  declare(pipeline_server(nic, "psn_tracker", "psn_tracker", nic.config.nic.psn_tracker.pipeline));
  declare(DeclaredTokens{.cause = nic.causes.declare("bitmap_banks", {"nic.psn_tracker.bitmap_banks"}),
                         .capacity = bitmap_.capacity(),
                         .unit = bitmap_.unit(),
                         .taken_by = "psn_tracker",
                         .returned_by = "psn_tracker",
                         .way = TokenWay::peer_data});
  nic.memories.count(kContextWait, context_wait_.places());
}

void PsnTracker::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const PsnTrackerConfig& config = nic.node.nic.psn_tracker;
  const MemoryConfig& bitmap = nic.node.nic.memory.bitmap;
  const MemoryGeometry banks{.depth = config.bitmap_banks, .banks = bitmap.banks, .ports = bitmap.ports};
  const MemoryGeometry map{.depth = std::uint64_t{nic.scale.qps} * std::bit_ceil(nic.protocol.mpr_units + 1),
                           .banks = bitmap.banks,
                           .ports = bitmap.ports};
  const MemoryField bank{"bank", bits_for(config.bitmap_banks - 1)};
  out.add(kQueue, {.depth = config.queue_entries}, receive_descriptor());
  out.add(kContextWait, {.depth = config.context_wait_entries}, receive_descriptor());
  out.add(kBitmap, config.bitmap_banks, bitmap, {{"received", mrc::PsnTracker::kBankPsns}});
  out.add_beside(kBitmap, "psn_tracker.message_ends", banks, {{"ends a message", mrc::PsnTracker::kBankPsns}});
  out.add_beside(kBitmap, "psn_tracker.bank_map", map, {bank, {"held", 1}});
  out.add(kFreeBanks, {.depth = config.bitmap_banks}, {bank});
}

void PsnTracker::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().psn_tracker.pipeline.latency_cycles);
}

void PsnTracker::discard(TimePs now, Packet* packet) {
  nic_.box_counters.discarded.add(*packet);
  nic_.packets.release(packet);
  nic_.rx_work.end(now);
}

StartId PsnTracker::trace_sack(TimePs now, const Packet& packet, Qp& qp) {
  const StartId first = std::exchange(qp.starts.received, 0);
  if (!starts_.on() || first == 0 || first == packet.last_start) return packet.last_start;
  return nic_.trace.delayed(now, first, sack_place_, sack_threshold_);
}

void PsnTracker::ask_triggers(TimePs now, const Packet& packet, Qp& qp, const RxDecision& decision) {
  std::optional<SackAsk> ask = AckCoalescerRtlPath::ask(nic_, qp, packet, decision);
  if (!ask) return;
  ask->because = decision.sack ? trace_sack(now, packet, qp) : packet.last_start;
  triggers_->events().push(now, *ask, now + delay_ + nic_.clock.cycles(service_.latency));
}

void PsnTracker::answer(TimePs now, const Packet& packet, Qp& qp, const RxDecision& decision) {
  if (qp.starts.received == 0) qp.starts.received = packet.last_start;
  if (triggers_ != nullptr) ask_triggers(now, packet, qp, decision);
  const bool owes_sack = decision.sack && triggers_ == nullptr;
  if (decision.nack == NackReason::none && !decision.repeat_transport_ack && !owes_sack) return;
  const TimePs out = now + delay_ + nic_.clock.cycles(service_.latency);
  AckJob job;
  job.qp = nic_.index_of(qp);
  job.because = packet.last_start;
  if (decision.nack != NackReason::none) {
    job.kind = AckJob::Kind::nack;
    job.nack = qp.receiver->build_nack(packet, decision.nack);
    answers_.push(now, job, out);
  }
  if (decision.repeat_transport_ack) {
    job.kind = AckJob::Kind::transport_ack;
    job.transport_ack = dma_write_.ack_of_left(job.qp, qp.receiver->repeat_transport_ack());
    answers_.push(now, job, out);
  }
  if (owes_sack) {
    job.because = trace_sack(now, packet, qp);
    job.kind = AckJob::Kind::sack;
    job.trigger = decision.trigger;
    answers_.push(now, job, out);
  }
}

void PsnTracker::wait(TimePs now, const MemoryAccess& access, const MemoryStructure& memory) {
  if (access.delay_ps <= delay_) return;
  delay_ = access.delay_ps;
  slot.stalled(now, delay_, memory.cause());
}

void PsnTracker::look_up(TimePs now, Qp& qp, const Packet& packet) {
  const std::uint32_t index = nic_.index_of(qp);
  MemoryAccess context = context_memory_.update(now, index);
  if (context.failed()) {
    qp_scheduler_->context_failed(now, index);
    context.delay_ps += static_cast<TimePs>(nic_.config.pcie.read_latency_mean_ns * 1000.0);
  }
  wait(now, context, context_memory_);
  const MemoryAccess bits = bitmap_memory_.update(now, index + packet.psn / mrc::PsnTracker::kBankPsns);
  wait(now, bits, bitmap_memory_);
  if (!bits.failed()) return;
  // A bank whose bits are lost cannot tell what has arrived: its QP refuses everything, and its peer fails with it.
  nic_.memory_failed(now, bitmap_memory_, fmt::format("QP {} in error: what has arrived is lost", qp.number));
  qp.receiver->to_error();
}

bool PsnTracker::store_payload(TimePs now, const Packet& packet) {
  const MemoryAccess stored = staging_memory_.write_stream(now, 0, packet.payload_bytes);
  wait(now, stored, staging_memory_);
  if (!stored.failed()) return true;
  nic_.memory_failed(
      now, staging_memory_,
      fmt::format("PSN {} to QP {} is dropped before its bit is set", packet.psn, packet.destination_qp));
  return false;
}

RxDecision PsnTracker::decide(TimePs now, Qp& qp, const Packet& packet, const RxResources& resources) {
  if (rtl_ == nullptr || packet.opcode == Opcode::probe_request) return qp.receiver->receive(packet, resources, now);
  if (packet.damage == Damage::trimmed) return rtl_->on_trimmed(nic_, qp, packet, now);
  return rtl_->accept(nic_, qp, packet, resources, now);
}

void PsnTracker::take_time(const Qp& qp, const Packet& packet, bool placed) {
  const std::uint32_t more = placed ? kPsnTrackerCyclesPerBank * qp.receiver->more_cycles(packet.psn) : 0;
  service_.occupied += more;
  service_.latency += more;
  if (rtl_ != nullptr && !by_pins_) service_ = rtl_->service(service_);
}

void PsnTracker::track(TimePs now, Packet* packet, Qp* qp) {
  if (qp == nullptr) {
    ++nic_.counters.unknown_qp;
    discard(now, packet);
    return;
  }
  if (packet->ecn == Ecn::ce) ++nic_.counters.ce_received;
  ReceivingHalf& receiver = *qp->receiver;
  RxResources resources;
  look_up(now, *qp, *packet);
  if (packet->opcode == Opcode::probe_request) {
    // It needs no room.
  } else if (packet->damage == Damage::trimmed) {
    ++nic_.counters.trimmed_received;
  } else {
    const bool staging = dma_write_.has_staging(now, packet->payload_bytes + promised_bytes_);
    if (!staging) dma_write_.refuse_staging(now);
    const bool descriptor = dma_write_.in().has_room_for(1 + promised_descriptors_);
    if (!descriptor) dma_write_.refuse_descriptor(now);
    const bool stored = staging && descriptor && receiver.expects(packet->psn);
    if (stored && !store_payload(now, *packet)) {
      ++nic_.box_counters.memory_dropped;
      discard(now, packet);
      return;
    }
    resources = {.packet_buffer_available = staging, .other_resource_available = descriptor};
  }
  RxDecision decision;
  if (!by_pins_ || (packet->opcode == Opcode::probe_request && !rtl_->is_joined())) {
    decision = decide(now, *qp, *packet, resources);
  } else if (ask_by_pins(packet, *qp, resources, decision)) {
    return;
  }
  conclude(now, packet, *qp, decision);
}

void PsnTracker::conclude(TimePs now, Packet* packet, Qp& qp, RxDecision& decision) {
  ReceivingHalf& receiver = *qp.receiver;
  if (ack_rtl_ != nullptr) ack_rtl_->judge(nic_, qp, *packet, decision, now);
  if (bitmap_.level() != nic_.bitmaps.in_use()) free_banks_.count(now);
  bitmap_.set(now, nic_.bitmaps.in_use());
  take_time(qp, *packet, decision.place);
  if (decision.nack == NackReason::no_bitmap) bitmap_.refuse(now);
  if (decision.admitted && is_data(packet->opcode)) {
    probe_engine_->data_received(now, qp, *packet, decision.is_duplicate());
  }
  receiver.set_penalty(
      receiver_penalty(dma_write_.staging().level(), dma_write_.staging().capacity(), nic_.scenario.protocol));
  answer(now, *packet, qp, decision);
  if (decision.nack == NackReason::unexp_event) sack_processor_->responder_failed(now, qp);
  if (decision.place) {
    dma_write_.reserve_staging(now, packet->payload_bytes);
    dma_write_.translate_ahead(now, *packet);
    dma_write_.in().push(now, {packet, nic_.index_of(qp), decision.closes_messages},
                         now + delay_ + nic_.clock.cycles(service_.latency));
    return;
  }
  if (decision.is_duplicate() && packet->damage == Damage::none) ++nic_.counters.duplicates;
  discard(now, packet);
}

bool PsnTracker::first_has_context(TimePs now, const Qp& qp) {
  const ContextWait::First first = context_wait_.first(now, nic_.index_of(qp));
  if (first == ContextWait::First::set_aside) {
    next_start_ = now + nic_.clock.cycles(nic_.config.nic.psn_tracker.pipeline.initiation_interval_cycles);
    in_.wait_ready(next_start_);
  }
  return first == ContextWait::First::here;
}

bool PsnTracker::take_waiting(TimePs now) {
  const std::optional<ContextWait::Waited> waited = context_wait_.take(now);
  if (!waited) return false;
  begin_service();
  if (starts_.on()) {
    waited->packet->last_start = starts_.start_after(now, waited->because, qp_scheduler_->context_miss());
  }
  track(now, waited->packet, &nic_.qps[waited->qp]);
  end_service(now);
  return true;
}

void PsnTracker::begin_service() {
  const PipelineConfig& pipeline = nic_.config.nic.psn_tracker.pipeline;
  delay_ = 0;
  service_ = {pipeline.initiation_interval_cycles, pipeline.latency_cycles};
}

void PsnTracker::end_service(TimePs now) {
  starts_.stall(delay_, slot);
  next_start_ = now + delay_ + nic_.clock.cycles(service_.occupied);
  slot.busy(now, next_start_);
  if (!context_wait_.empty()) wake_at(next_start_);
  in_.wait_ready(next_start_);
}

void PsnTracker::for_each_packet_held(const PacketVisitor& visit) const {
  context_wait_.for_each_packet(visit);
  if (by_pins_) rtl_->for_each_packet(visit);
}

bool PsnTracker::ask_by_pins(Packet* packet, Qp& qp, const RxResources& resources, RxDecision& decision) {
  PsnAsk ask;
  ask.packet = packet;
  ask.resources = resources;
  ask.systemc = service_;
  ask.delay = delay_;
  if (rtl_->is_joined()) ask.reflects = AckCoalescerRtlPath::about(*packet);
  if (packet->opcode == Opcode::probe_request) {
    rtl_->pass_probe(nic_, qp, ask);
    return true;
  }
  if (!rtl_->ask(nic_, qp, ask)) {
    decision = ask.decision;
    return false;
  }
  if (ask.promises_room()) {
    promised_bytes_ += packet->payload_bytes;
    ++promised_descriptors_;
  }
  return true;
}

void PsnTracker::conclude_by_pins(TimePs now) {
  PsnAsk ask = rtl_->conclude(nic_, now);
  if (ask.packet == nullptr) {
    if (ask.op == PsnOp::sack) rtl_->contents().push(now, ask.read, now);
    return;
  }
  if (ask.promises_room()) {
    promised_bytes_ -= ask.packet->payload_bytes;
    --promised_descriptors_;
  }
  // The reply is here: nothing more is added but what the memories took.
  service_ = {};
  delay_ = ask.delay;
  conclude(now, ask.packet, nic_.qps[ask.qp], ask.decision);
}

void PsnTracker::step_by_pins(TimePs now) {
  const TimePs edge = std::max(nic_.clock.edge(now), next_cycle_);
  if (now < edge) {
    wake_at(edge);
    return;
  }
  if (rtl_->pins().is_free()) {
    if (!rtl_->has_asked() && !rtl_->reads().ready(now)) take_packet(now);
    rtl_->offer_next(nic_, now);
  }
  if (rtl_->pins().is_idle()) {
    rtl_->reads().wait_ready(now);
    return;
  }
  next_cycle_ = now + nic_.clock.period_ps();
  const bool takes = answers_.has_room_for(kMostAnswers) && !rtl_->contents().full() &&
                     (triggers_ == nullptr || !triggers_->events().full());
  const PinCycle pins = rtl_->clock(nic_.clock.edge_index(now), takes);
  if (pins.last_out) conclude_by_pins(now);
  if (rtl_->pins().was_occupied() && next_cycle_ > slot.busy_until()) slot.busy(now, next_cycle_);
  wake_at(next_cycle_);
}

void PsnTracker::step(TimePs now) {
  if (by_pins_) {
    step_by_pins(now);
  } else {
    take_packet(now);
  }
}

void PsnTracker::take_packet(TimePs now) {
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  const bool waits = !context_wait_.empty();
  if (!waits && !in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  if (!answers_.has_room_for(kMostAnswers)) {
    slot.blocked(now, answers_full_);
    answers_.wait_room(now, *this);
    return;
  }
  if (triggers_ != nullptr && triggers_->events().full()) {
    slot.blocked(now, triggers_->events_full());
    triggers_->events().wait_room(now, *this);
    return;
  }
  if (waits && take_waiting(now)) return;
  if (!in_.ready(now)) {
    slot.blocked(now, qp_scheduler_->context_miss());
    in_.wait_ready(now);
    return;
  }
  Qp* qp = nic_.find_qp(in_.front()->destination_qp);
  if (qp != nullptr && !qp->receiver) qp = nullptr;
  if (qp != nullptr && !first_has_context(now, *qp)) return;
  begin_service();
  if (qp_scheduler_->answers_later()) {
    starts_.start_after_block(now, slot, in_.front()->last_start, in_.ready_at(), qp_scheduler_->busy());
  } else {
    starts_.start(now, slot, in_.front()->last_start, in_.ready_at());
  }
  track(now, context_wait_.pop(now), qp);
  end_service(now);
}

}  // namespace mrc::timing
