// Drives a Verilated ack_coalescer_run event by event. Included only where a Verilated class is at hand.
#pragma once

#include <cstdint>

#include "cosim/ack_coalescer/events_inside.h"
#include "cosim/ack_coalescer/rtl.h"
#include "cosim/ack_coalescer/transfers.h"
#include "cosim/clocked_model.h"
#include "cosim/resident_contexts.h"
#include "cosim/trace.h"
#include "nic/control/ack_coalescer_engine.h"

namespace mrc {

/// One event at a time, until its SACK is on the wires, or for as long as the contract lets a SACK take: then there is
/// none.
template <typename Model>
class AckCoalescerAdapter : public AckCoalescerEngine {
 public:
  AckCoalescerAdapter(std::uint32_t threshold_bytes, std::uint32_t min_add_bytes, const cosim::TraceRecorder& recorder,
                      std::uint32_t sack_cycles)
      : recorder_(recorder), sack_cycles_(sack_cycles), contexts_(kAckCoalescerSlots, 0), inside_(sack_cycles) {
    set_pin(model_->threshold_bytes_i, threshold_bytes);
    set_pin(model_->min_add_bytes_i, min_add_bytes);
    recorder_.set("threshold_bytes", threshold_bytes);
    recorder_.set("min_add_bytes", min_add_bytes);
    model_->sack_ready_i = 1;
    model_.reset();
  }

  AckReply event(std::uint32_t qp, const SackQuestion& question) override {
    make_resident(qp);
    AckReply reply;
    reply.occupied_cycles = run(evt_of(qp, question));
    if (model_->sack_valid_o == 0) return reply;
    reply.latency_cycles = latency_cycles_;
    reply.sack = to_sack(ack_coalescer_ports::Sack::take(model_.pins()));
    return reply;
  }
  void renew(std::uint32_t qp) override {
    make_resident(qp);
    run({.event = static_cast<std::uint64_t>(rtl::SackEvent::load), .slot = contexts_.slot_of(qp)});
  }
  std::uint64_t cycles() const override { return model_.cycles(); }

  PinCycle clock(const SackItem* offered, const SackItem*, bool takes) override {
    const Contexts::Move* move = offered == nullptr ? nullptr : contexts_.next(offered->qp);
    const bool waits = move != nullptr && contexts_.waits_for_row();
    const bool drives = offered != nullptr && !waits;
    if (drives) (move != nullptr ? evt_of(*move) : evt_of(offered->qp, offered->question)).put(model_.pins());
    const bool valid = model_->sack_valid_o != 0;
    const bool stored = valid && ack_coalescer_ports::Sack::take(model_.pins()).causes == kSackStored;
    model_->evt_valid_i = drives ? 1 : 0;
    model_->sack_ready_i = takes || stored ? 1 : 0;
    model_.low();
    const bool ready = model_->evt_ready_o != 0;
    PinCycle pins = single_transfers(ready && move == nullptr, drives, valid && !stored, takes);
    if (!pins.out_waits) answer_inside(valid, stored, pins);
    if (drives && ready) {
      inside_.taken({.slot = move != nullptr ? move->slot : contexts_.slot_of(offered->qp),
                     .psn = offered->question.trigger.psn,
                     .moves = move != nullptr});
      if (move != nullptr) contexts_.moved();
    }
    model_.high();
    return pins;
  }
  const SackOwed& answer() const override { return answer_; }

 private:
  using Contexts = ResidentContexts<std::uint64_t>;
  void make_resident(std::uint32_t qp) {
    contexts_.make_resident(
        qp, [&](const Contexts::Move& move) { run(evt_of(move)); },
        [&] { return ack_coalescer_ports::Sack::take(model_.pins()).counter_bytes; });
  }
  void answer_inside(bool valid, bool stored, PinCycle& pins) {
    const auto sack = ack_coalescer_ports::Sack::take(model_.pins());
    pins.unanswered = inside_.answered(valid ? &sack : nullptr, stored);
    if (!valid) return;
    if (stored) {
      contexts_.stored(sack.counter_bytes);
    } else {
      answer_ = to_sack(sack);
      pins.first_out = pins.last_out = true;
    }
  }
  ack_coalescer_ports::Evt evt_of(const Contexts::Move& move) const {
    const rtl::SackEvent event = move.store ? rtl::SackEvent::store : rtl::SackEvent::load;
    return {.event = static_cast<std::uint64_t>(event),
            .slot = move.slot,
            .counter_bytes = move.store ? 0 : contexts_.row()};
  }
  ack_coalescer_ports::Evt evt_of(std::uint32_t qp, const SackQuestion& question) const {
    return to_evt(question, contexts_.slot_of(qp));
  }

  static constexpr std::uint64_t kMostCycles = 1'000;

  /// Returns the cycles until the event was taken.
  std::uint32_t run(const ack_coalescer_ports::Evt& evt) {
    if (!sack_seen_ && model_->sack_valid_o != 0) throw RtlError("ack_coalescer RTL puts out a SACK that is too late");
    recorder_.add(evt);
    evt.put(model_.pins());
    const std::uint64_t offered = offer_until_taken(model_, model_->evt_valid_i, model_->evt_ready_o, kMostCycles,
                                                    "ack_coalescer RTL does not take an event");
    for (latency_cycles_ = 1; model_->sack_valid_o == 0 && latency_cycles_ < sack_cycles_; ++latency_cycles_)
      model_.next();
    sack_seen_ = model_->sack_valid_o != 0;
    return static_cast<std::uint32_t>(offered);
  }

  ClockedModel<Model> model_;
  cosim::TraceRecorder recorder_;
  std::uint32_t sack_cycles_;  ///< from an event to its SACK, at most
  std::uint32_t latency_cycles_ = 0;
  bool sack_seen_ = false;
  Contexts contexts_;
  // By pins:
  EventsInside inside_;
  SackOwed answer_;
};

}  // namespace mrc
