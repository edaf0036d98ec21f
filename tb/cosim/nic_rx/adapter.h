// Drives a Verilated nic_rx_run, psn_tracker and ack_coalescer joined, for the boxes of both. Included only where a
// Verilated class is at hand.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "cosim/ack_coalescer/events_inside.h"
#include "cosim/ack_coalescer/transfers.h"
#include "cosim/nic_rx/ports.h"
#include "cosim/nic_rx/rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/psn_tracker/transfers.h"
#include "cosim/resident_contexts.h"
#include "cosim/shared_model.h"
#include "engine/first_difference.h"

namespace mrc {

/// Requests and replies. A context that moves has the counter of ack_coalescer too, which comes out later.
template <typename Model>
class JoinedPsnTracker : public PsnTrackerEngine {
 public:
  explicit JoinedPsnTracker(std::shared_ptr<SharedModel<Model>> shared)
      : model_(std::move(shared), 0), contexts_(kPsnTrackerRtl.slots) {
    model_.on_rest([this] { model_->req_valid_i = model_->rsp_ready_i = 0; });
    model_.on_edge([this] { take_stored_counter(); });
    model_.restart_count();
  }

  PsnReply run(const PsnRequest&) override { throw RtlError("nic_rx RTL is clocked by its pins only"); }
  std::uint32_t banks_in_use() const override { return model_->banks_in_use_o; }
  std::uint32_t latency_cycles() const override { return 0; }
  std::uint64_t cycles() const override { return model_.cycles(); }

  void begin_cycle(std::uint64_t cycle) override { model_.begin_cycle(cycle); }
  PinCycle clock(const PsnRequest* offered, const PsnRequest*, bool takes) override {
    const auto* move = offered == nullptr ? nullptr : contexts_.next(offered->qp);
    const bool drives = offered != nullptr && (move == nullptr || !contexts_.waits_for_row());
    if (drives) move != nullptr ? put(*move) : put(*offered);
    const bool valid = model_->rsp_valid_o != 0;
    const bool moved = valid && inside_.next_is_of_move();
    model_->req_valid_i = drives ? 1 : 0;
    model_->rsp_ready_i = takes || moved ? 1 : 0;
    model_.low();
    const bool ready = model_->req_ready_o != 0;
    PinCycle pins = single_transfers(ready && move == nullptr, drives, valid && !moved, takes);
    pins.first_out = pins.last_out = valid && !moved && takes;
    if (pins.last_out) answer_ = to_reply(psn_tracker_ports::Rsp::take(model_.pins()));
    if (pins.last_out || moved) inside_.answered_in_parts([&] { rows_.push_back(row_of(model_->rsp_context_o)); });
    if (drives && ready) inside_.taken(move);
    model_.high();
    return pins;
  }
  const PsnReply& answer() const override { return answer_; }

 private:
  struct Row {
    ContextRow<std::remove_reference_t<decltype(Model::req_context_i)>> context{};
    std::uint64_t counter_bytes = 0;
  };
  using Contexts = ResidentContexts<Row>;

  void put(const typename Contexts::Move& move) {
    psn_tracker_ports::Req{.op = static_cast<std::uint64_t>(move.store ? PsnOp::store : PsnOp::load), .slot = move.slot}
        .put(model_.pins());
    put_reflection({});
    model_->req_is_probe_i = 0;
    if (move.store) return;
    put_row(contexts_.row().context, model_->req_context_i);
    set_pin(model_->req_counter_bytes_i, contexts_.row().counter_bytes);
  }
  void put(const PsnRequest& request) {
    to_req(request, contexts_.slot_of(request.qp)).put(model_.pins());
    put_reflection(request.reflects);
    model_->req_is_probe_i = request.is_probe ? 1 : 0;
  }
  void put_reflection(const SackQuestion& question) {
    const SackTrigger& trigger = question.trigger;
    set_pin(model_->req_payload_bytes_i, question.payload_bytes);
    set_pin(model_->req_retransmission_i, question.retransmission);
    set_pin(model_->req_reflected_psn_i, trigger.psn);
    set_pin(model_->req_reflected_ev_i, trigger.ev);
    set_pin(model_->req_reflected_timestamp_i, trigger.tx_timestamp);
    set_pin(model_->req_reflected_probe_id_i, trigger.probe_id);
    set_pin(model_->req_reflected_ce_i, trigger.ce);
    set_pin(model_->req_reflected_ack_request_i, trigger.ack_request);
    set_pin(model_->req_reflected_probe_i, trigger.probe);
  }
  /// A counter that is stored is taken whoever makes the cycle.
  void take_stored_counter() {
    if (model_->sack_valid_o == 0) return;
    const auto sack = ack_coalescer_ports::Sack::take(model_.pins());
    if (sack.causes != kSackStored) return;
    model_->sack_ready_i = 1;
    model_.low();
    if (rows_.empty()) throw RtlError("nic_rx RTL stores a counter that nobody asked for");
    contexts_.stored({rows_.front(), sack.counter_bytes});
    rows_.pop_front();
  }

  SharedClock<Model> model_;
  Contexts contexts_;
  AnswersInOrder<Row> inside_{contexts_};
  std::deque<decltype(Row::context)> rows_;  ///< of stores whose counters have not come out
  PsnReply answer_;
};

/// SACKs. Events come from psn_tracker inside the RTL: those of the box are what they are compared with, and let them
/// pass.
template <typename Model>
class JoinedAckCoalescer : public AckCoalescerEngine {
 public:
  JoinedAckCoalescer(std::shared_ptr<SharedModel<Model>> shared, std::uint32_t sack_cycles)
      : model_(std::move(shared), 1), inside_(sack_cycles) {
    model_.on_rest([this] { model_->evt_go_i = model_->sack_ready_i = 0; });
    model_.restart_count();
  }

  AckReply event(std::uint32_t, const SackQuestion&) override {
    throw RtlError("nic_rx RTL is clocked by its pins only");
  }
  void renew(std::uint32_t) override { throw RtlError("nic_rx RTL is clocked by its pins only"); }
  std::uint64_t cycles() const override { return model_.cycles(); }

  void begin_cycle(std::uint64_t cycle) override { model_.begin_cycle(cycle); }
  PinCycle clock(const SackItem* offered, const SackItem*, bool takes) override {
    const auto sack = ack_coalescer_ports::Sack::take(model_.pins());
    const bool valid = model_->sack_valid_o != 0 && sack.causes != kSackStored;
    model_->evt_go_i = offered != nullptr ? 1 : 0;
    model_->sack_ready_i = takes ? 1 : 0;
    model_.low();
    const auto event = nic_rx_ports::Evt::take(model_.pins());
    const bool passes = model_->evt_valid_o != 0 && !is_context(event);
    const bool ready = model_->evt_ready_o != 0;
    PinCycle pins = single_transfers(ready, offered != nullptr && passes, valid, takes);
    if (!pins.out_waits) {
      pins.unanswered = inside_.answered(valid ? &sack : nullptr, false);
      pins.first_out = pins.last_out = valid;
      if (valid) answer_ = to_sack(sack);
    }
    if (pins.taken) {
      check(offered->question, event);
      inside_.taken({.slot = static_cast<std::uint32_t>(event.slot), .psn = offered->question.trigger.psn});
    }
    model_.high();
    return pins;
  }
  const SackOwed& answer() const override { return answer_; }

 private:
  static bool is_context(const nic_rx_ports::Evt& event) {
    return event.event == static_cast<std::uint64_t>(rtl::SackEvent::load) ||
           event.event == static_cast<std::uint64_t>(rtl::SackEvent::store);
  }
  /// The event that psn_tracker's reply became is the one that the box has made of it.
  static void check(const SackQuestion& question, const nic_rx_ports::Evt& event) {
    const ack_coalescer_ports::Evt expected = to_evt(question, static_cast<std::uint32_t>(event.slot));
    FirstDifference first;
    first.note("event", expected.event, event.event);
    first.note("psn", expected.psn, event.psn);
    first.note("payload_bytes", expected.payload_bytes, event.payload_bytes);
    first.note("retransmission", expected.retransmission, event.retransmission);
    first.note("ev", expected.ev, event.ev);
    first.note("tx_timestamp", expected.tx_timestamp, event.tx_timestamp);
    first.note("probe_id", expected.probe_id, event.probe_id);
    first.note("ce", expected.ce, event.ce);
    first.note("ack_request", expected.ack_request, event.ack_request);
    first.note("probe", expected.probe, event.probe);
    if (first.text().empty()) return;
    throw RtlError(fmt::format("nic_rx RTL, event of PSN {} between psn_tracker and ack_coalescer: {}",
                               question.trigger.psn, first.text()));
  }

  SharedClock<Model> model_;
  EventsInside inside_;
  SackOwed answer_;
};

template <typename Model>
NicRxEngines make_joined_engines(const NicRxSettings& settings, std::uint32_t sack_cycles) {
  const auto shared = std::make_shared<SharedModel<Model>>();
  ClockedModel<Model>& model = shared->clocked();
  set_pin(model->nack_out_of_window_i, settings.psn_tracker.out_of_window == OutOfWindow::nack);
  set_pin(model->dynamic_mpr_i, settings.psn_tracker.dynamic_mpr);
  set_pin(model->threshold_bytes_i, settings.sack_threshold_bytes);
  set_pin(model->min_add_bytes_i, settings.sack_min_add_bytes);
  shared->add(2);
  shared->reset();
  return {std::make_unique<JoinedPsnTracker<Model>>(shared),
          std::make_unique<JoinedAckCoalescer<Model>>(shared, sack_cycles)};
}

}  // namespace mrc
