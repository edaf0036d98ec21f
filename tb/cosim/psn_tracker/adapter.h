// Drives a Verilated psn_tracker_run request by request. Included only where a Verilated class is at hand.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cosim/clocked_model.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/psn_tracker/transfers.h"
#include "cosim/resident_contexts.h"
#include "cosim/trace.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

/// Clocked while a request is under way and not otherwise.
template <typename Model>
class PsnTrackerAdapter : public PsnTrackerEngine {
 public:
  explicit PsnTrackerAdapter(const PsnTrackerSettings& settings, const cosim::TraceRecorder& recorder = {})
      : recorder_(recorder), contexts_(kPsnTrackerRtl.slots) {
    const bool nack = settings.out_of_window == OutOfWindow::nack;
    set_pin(model_->nack_out_of_window_i, nack);
    set_pin(model_->dynamic_mpr_i, settings.dynamic_mpr);
    recorder_.set("nack_out_of_window", nack);
    recorder_.set("dynamic_mpr", settings.dynamic_mpr);
    model_->rsp_ready_i = 1;
    model_.reset();
  }

  PsnReply run(const PsnRequest& request) override {
    contexts_.make_resident(
        request.qp, [&](const auto& move) { run_offered(put(move)); }, [&] { return context_out(); });
    run_offered(put(request));
    return to_reply(Rsp::take(model_.pins()));
  }
  std::uint32_t banks_in_use() const override { return model_->banks_in_use_o; }
  std::uint32_t latency_cycles() const override { return latency_cycles_; }
  std::uint64_t cycles() const override { return model_.cycles(); }

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
    if (pins.last_out) answer_ = to_reply(Rsp::take(model_.pins()));
    if (pins.last_out || moved) inside_.answered([&] { return context_out(); });
    if (drives && ready) inside_.taken(move);
    model_.high();
    return pins;
  }
  const PsnReply& answer() const override { return answer_; }

 private:
  using Req = psn_tracker_ports::Req;
  using Rsp = psn_tracker_ports::Rsp;
  using Row = ContextRow<std::remove_reference_t<decltype(Model::req_context_i)>>;
  using Contexts = ResidentContexts<Row>;
  static constexpr std::uint64_t kMostCycles = 1'000;

  /// `req` is on the pins. Clocks until its reply is there.
  void run_offered(const Req& req) {
    if (recorder_.records()) recorder_.add(Req::kPort, with_context(req.transfer(), model_->req_context_i));
    offer_until_taken(model_, model_->req_valid_i, model_->req_ready_o, kMostCycles,
                      "psn_tracker RTL does not take a request");
    // What the last clock edge registers is on the wires in the cycle after it.
    const auto answered = [&] { return model_->rsp_valid_o != 0; };
    const std::uint64_t waited =
        answered() ? 0 : clock_until([&] { model_.next(); }, answered, kMostCycles, "psn_tracker RTL does not answer");
    latency_cycles_ = static_cast<std::uint32_t>(1 + waited);
  }
  Req put(const typename Contexts::Move& move) {
    const Req req{.op = static_cast<std::uint64_t>(move.store ? PsnOp::store : PsnOp::load), .slot = move.slot};
    req.put(model_.pins());
    if (!move.store) put_row(contexts_.row(), model_->req_context_i);
    return req;
  }
  Req put(const PsnRequest& request) {
    const Req req = to_req(request, contexts_.slot_of(request.qp));
    req.put(model_.pins());
    return req;
  }
  Row context_out() const { return row_of(model_->rsp_context_o); }
  ClockedModel<Model> model_;
  cosim::TraceRecorder recorder_;
  Contexts contexts_;
  std::uint32_t latency_cycles_ = 0;
  // By pins:
  PsnReply answer_;
  AnswersInOrder<Row> inside_{contexts_};
};

}  // namespace mrc
