// Drives a Verilated retransmit_buffer_run command by command, or clocked by its pins. Included only where a Verilated
// class is at hand.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "cosim/clocked_model.h"
#include "cosim/mrc_pkg.h"
#include "cosim/resident_contexts.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/retransmit_buffer/transfers.h"
#include "cosim/trace.h"
#include "nic/tx/retransmit_buffer_engine.h"

namespace mrc {

static_assert(rtl::is_retransmit_op<RetransmitOp>(2));

/// Clocked from the command to its response and not otherwise; events and responses are taken at once.
template <typename Model, typename Clocked = ClockedModel<Model>>
class RetransmitBufferAdapter : public RetransmitBufferEngine {
 public:
  template <typename... Shared>
  explicit RetransmitBufferAdapter(const cosim::TraceRecorder& recorder = {}, Shared&&... shared)
      : model_(std::forward<Shared>(shared)...), recorder_(recorder), contexts_(kRetransmitBufferSizes.slots) {
    take_all();
    model_.reset();
    clock_until_ready(model_, model_->cmd_ready_o, kMostCycles, "retransmit_buffer RTL does not come out of reset");
    model_.restart_count();
    model_.on_rest([this] { model_->cmd_valid_i = model_->rsp_ready_i = model_->evt_ready_i = 0; });
  }

  const RetransmitReply& run(const RetransmitCommand& command) override {
    contexts_.make_resident(
        command.qp, [&](const auto& move) { run_offered(put(move)); }, [&] { return context_out(); });
    run_offered(put(command));
    take_reply(Rsp::take(model_.pins()), command.op);
    return reply_;
  }
  std::uint64_t cycles() const override { return model_.cycles(); }
  std::uint64_t last_cycles() const override { return last_cycles_; }

  void begin_cycle(std::uint64_t cycle) override {
    if (std::exchange(response_left_, false)) {
      model_->cmd_valid_i = 0;
      take_all();
      model_.clock();
    }
    model_.begin_cycle(cycle);
  }
  PinCycle clock(const RetransmitCommand* offered, const RetransmitCommand* oldest, bool takes) override {
    if (std::exchange(answered_, false)) reply_.events.clear();
    const auto* move = offered == nullptr ? nullptr : contexts_.next(offered->qp);
    const bool drives = offered != nullptr && (move == nullptr || !contexts_.waits_for_row());
    if (drives) move != nullptr ? put(*move) : put(*offered);
    const bool moves = inside_.next_is_of_move();
    model_->cmd_valid_i = drives ? 1 : 0;
    model_->evt_ready_i = 1;
    model_->rsp_ready_i = takes || moves ? 1 : 0;
    model_.low();
    const bool valid = model_->rsp_valid_o != 0;
    const bool moved = valid && moves;
    const bool ready = model_->cmd_ready_o != 0;
    PinCycle pins = single_transfers(ready && move == nullptr, drives, valid && !moved, takes);
    pins.first_out = pins.last_out = valid && !moved && takes;
    if (model_->evt_valid_o != 0) reply_.events.push_back(event_of(Evt::take(model_.pins())));
    if (pins.last_out) {
      take_reply(Rsp::take(model_.pins()), oldest == nullptr ? RetransmitOp::open : oldest->op);
      answered_ = true;
    }
    if (pins.last_out || moved) inside_.answered([&] { return context_out(); });
    if (drives && ready) {
      if (move == nullptr) check_path(*offered);
      inside_.taken(move);
    }
    model_.high();
    return pins;
  }
  const RetransmitReply& answer() const override { return reply_; }

 private:
  void take_all() { model_->rsp_ready_i = model_->evt_ready_i = 1; }

  using Cmd = retransmit_buffer_ports::Cmd;
  using Evt = retransmit_buffer_ports::Evt;
  using Rsp = retransmit_buffer_ports::Rsp;
  using Row = ContextRow<std::remove_reference_t<decltype(Model::cmd_context_i)>>;
  using Contexts = ResidentContexts<Row>;
  static constexpr std::uint64_t kMostCycles = 1'000'000;

  /// `cmd` is on the pins. Clocks until its response is there.
  void run_offered(const Cmd& cmd) {
    if (recorder_.records()) recorder_.add(Cmd::kPort, with_context(cmd.transfer(), model_->cmd_context_i));
    const std::uint64_t begin = model_.cycles();
    reply_.events.clear();
    take_all();
    // The response of the command before is taken with this command's first cycle.
    offer_until_taken(model_, model_->cmd_valid_i, model_->cmd_ready_o, kMostCycles,
                      "retransmit_buffer RTL does not take a command");
    while (model_->rsp_valid_o == 0) {
      if (model_.cycles() - begin > kMostCycles) throw RtlError("retransmit_buffer RTL does not end a command");
      if (model_->evt_valid_o != 0) reply_.events.push_back(event_of(Evt::take(model_.pins())));
      model_.next();
    }
    // The last event may come with the response.
    if (model_->evt_valid_o != 0) reply_.events.push_back(event_of(Evt::take(model_.pins())));
    last_cycles_ = model_.cycles() - begin;
    response_left_ = true;
  }
  Cmd put(const typename Contexts::Move& move) {
    const rtl::RetransmitOp op = move.store ? rtl::RetransmitOp::store : rtl::RetransmitOp::load;
    const Cmd cmd{.op = static_cast<std::uint64_t>(op), .slot = move.slot, .qp = move.qp};
    cmd.put(model_.pins());
    if (!move.store) put_row(contexts_.row(), model_->cmd_context_i);
    return cmd;
  }
  Cmd put(const RetransmitCommand& command) {
    Cmd cmd = to_cmd(command);
    cmd.slot = contexts_.slot_of(command.qp);
    cmd.put(model_.pins());
    return cmd;
  }
  Row context_out() const { return row_of(model_->rsp_context_o); }
  /// Joined with spray_scheduler: the EV that the packet is marked with is the one that it was given.
  void check_path(const RetransmitCommand& command) const {
    if constexpr (requires { model_->cmd_path_ev_o; }) {
      if (command.op != RetransmitOp::sent || model_->cmd_path_ev_o == command.ev) return;
      throw RtlError(fmt::format("nic_tx RTL marks PSN {} as sent on EV {} of the profile: expected {}", command.psn,
                                 model_->cmd_path_ev_o, command.ev));
    }
  }

  static RetransmitEvent event_of(const Evt& evt) {
    return {.psn = static_cast<Psn>(evt.psn),
            .bytes = static_cast<std::uint16_t>(evt.bytes),
            .ev = static_cast<EvIndex>(evt.ev),
            .lost = evt.lost != 0,
            .was_lost = evt.was_lost != 0};
  }
  /// All but the events. What the block leaves open is 0.
  void take_reply(const Rsp& rsp, RetransmitOp op) {
    const bool taken = op == RetransmitOp::take && rsp.hit != 0;
    reply_.hit = rsp.hit != 0;
    reply_.advanced = rsp.advanced != 0;
    reply_.count = static_cast<std::uint32_t>(rsp.count);
    reply_.psn = taken || (op == RetransmitOp::append && reply_.hit) ? static_cast<Psn>(rsp.psn) : 0;
    reply_.message = taken ? static_cast<std::uint16_t>(rsp.message) : 0;
    reply_.offset = taken ? static_cast<std::uint32_t>(rsp.offset) : 0;
    reply_.bytes = taken ? static_cast<std::uint16_t>(rsp.bytes) : 0;
    reply_.cause = taken ? static_cast<CutCause>(rsp.cause) : CutCause::none;
    reply_.unacked = static_cast<Psn>(rsp.unacked);
    reply_.next = static_cast<Psn>(rsp.next);
    reply_.has_lost = rsp.has_lost != 0;
    reply_.oldest_lost = reply_.has_lost ? static_cast<Psn>(rsp.oldest_lost) : 0;
    reply_.outstanding = rsp.outstanding != 0;
    reply_.oldest_psn = reply_.outstanding ? static_cast<Psn>(rsp.oldest_psn) : 0;
    reply_.oldest_sent = reply_.outstanding ? rsp.oldest_sent : 0;
    reply_.free = static_cast<std::uint32_t>(rsp.free);
  }

  Clocked model_;
  cosim::TraceRecorder recorder_;
  Contexts contexts_;
  RetransmitReply reply_;
  std::uint64_t last_cycles_ = 0;
  bool response_left_ = false;  ///< of run(): it is taken with the next cycle
  // By pins:
  bool answered_ = false;  ///< the reply is complete
  AnswersInOrder<Row> inside_{contexts_};
};

}  // namespace mrc
