// Drives a Verilated qp_scheduler_run operation by operation, or clocked by its pins. Included only where a Verilated
// class is at hand.
#pragma once

#include <cstdint>

#include "cosim/clocked_model.h"
#include "cosim/mrc_pkg.h"
#include "cosim/qp_scheduler/ports.h"
#include "cosim/trace.h"
#include "nic/tx/qp_scheduler_engine.h"

namespace mrc {

static_assert(rtl::is_context_lookup<ContextLookup>());

/// One operation at a time, after each of which the block has come to rest, or a cycle at a time.
template <typename Model>
class QpSchedulerAdapter : public QpSchedulerEngine {
 public:
  QpSchedulerAdapter(std::uint32_t quantum_bytes, std::uint32_t slots, const cosim::TraceRecorder& recorder)
      : recorder_(recorder) {
    set_pin(model_->quantum_bytes_i, quantum_bytes);
    recorder_.set("quantum_bytes", quantum_bytes);
    recorder_.set("slots", slots);
    model_.reset();
    wait_for(model_->act_ready_o, "qp_scheduler: it does not come out of reset");
    model_.restart_count();
  }

  void activate(std::uint32_t qp) override {
    const qp_scheduler_ports::Act act{.qp = qp};
    recorder_.add_in_turn(act);
    act.put(model_.pins());
    take(model_->act_valid_i, model_->act_ready_o);
  }
  ContextReply turn(bool room) override {
    model_->run_i = 1;
    model_->read_room_i = room ? 1 : 0;
    wait_for(model_->pick_o, "qp_scheduler: nobody gets a turn");
    model_->run_i = 0;
    const std::uint64_t begun = model_.cycles() - 1;
    wait_for(model_->turn_valid_o, "qp_scheduler: a turn has no end");
    const auto turn = qp_scheduler_ports::Turn::take(model_.pins());
    ContextReply reply = reply_of(turn.qp, turn.lookup);
    if (reply.lookup == ContextLookup::here) {
      wait_in_cycle(model_->grant_valid_o, "qp_scheduler: a turn has no grant");
      const auto grant = qp_scheduler_ports::Grant::take(model_.pins());
      reply.slot = static_cast<std::uint32_t>(grant.slot);
      reply.quantum_bytes = static_cast<std::uint32_t>(grant.quantum_bytes);
      reply.latency_cycles = static_cast<std::uint32_t>(model_.cycles() - 1 - begun);
      take_output(model_->grant_ready_i);
    }
    finish(reply, begun);
    return reply;
  }
  void give_back(std::uint32_t qp, std::uint32_t slot, bool again) override {
    qp_scheduler_ports::Back{.qp = qp, .slot = slot, .again = again}.put(model_.pins());
    take(model_->back_valid_i, model_->back_ready_o);
  }
  ContextReply look(std::uint32_t qp, bool room) override {
    const qp_scheduler_ports::Look look{.qp = qp};
    recorder_.add_in_turn(look);
    look.put(model_.pins());
    model_->read_room_i = room ? 1 : 0;
    model_->look_valid_i = 1;
    wait_for(model_->look_ready_o, "qp_scheduler: a lookup is not taken");
    model_->look_valid_i = 0;
    const std::uint64_t begun = model_.cycles() - 1;
    wait_for(model_->seen_valid_o, "qp_scheduler: a lookup has no answer");
    const auto seen = qp_scheduler_ports::Seen::take(model_.pins());
    ContextReply reply = reply_of(seen.qp, seen.lookup);
    reply.slot = static_cast<std::uint32_t>(seen.slot);
    reply.latency_cycles = static_cast<std::uint32_t>(model_.cycles() - 1 - begun);
    take_output(model_->seen_ready_i);
    finish(reply, begun);
    return reply;
  }
  void fill(std::uint32_t qp, bool list, bool used) override {
    qp_scheduler_ports::Fill{.qp = qp, .list = list, .used = used}.put(model_.pins());
    take(model_->fill_valid_i, model_->fill_ready_o);
    settle();
  }
  void drop(std::uint32_t qp) override {
    const qp_scheduler_ports::Drop drop{.qp = qp};
    recorder_.add_in_turn(drop);
    drop.put(model_.pins());
    take(model_->drop_valid_i, model_->drop_ready_o);
  }
  QpSchedulerOutputs clock(const QpSchedulerInputs& inputs) override {
    put(inputs);
    model_.low();
    QpSchedulerOutputs outputs = handshakes(inputs);
    take_answers(outputs);
    model_.high();
    return outputs;
  }
  std::uint64_t cycles() const override { return model_.cycles(); }

 private:
  static constexpr std::uint64_t kMostCycles = 40'000;

  void put(const QpSchedulerInputs& inputs) {
    using namespace qp_scheduler_ports;
    if (inputs.activated) Act{.qp = *inputs.activated}.put(model_.pins());
    if (const auto& back = inputs.returned)
      Back{.qp = back->qp, .slot = back->slot, .again = back->again}.put(model_.pins());
    if (inputs.looked_up) Look{.qp = *inputs.looked_up}.put(model_.pins());
    if (const auto& fill = inputs.filled)
      Fill{.qp = fill->qp, .list = fill->list, .used = fill->used}.put(model_.pins());
    if (inputs.dropped) Drop{.qp = *inputs.dropped}.put(model_.pins());
    model_->act_valid_i = inputs.activated ? 1 : 0;
    model_->back_valid_i = inputs.returned ? 1 : 0;
    model_->look_valid_i = inputs.looked_up ? 1 : 0;
    model_->fill_valid_i = inputs.filled ? 1 : 0;
    model_->drop_valid_i = inputs.dropped ? 1 : 0;
    model_->run_i = inputs.run ? 1 : 0;
    model_->read_room_i = inputs.read_room ? 1 : 0;
    model_->grant_ready_i = 1;
    model_->seen_ready_i = 1;
    model_->fetch_ready_i = inputs.takes_fetch ? 1 : 0;
  }
  QpSchedulerOutputs handshakes(const QpSchedulerInputs& inputs) {
    QpSchedulerOutputs outputs;
    outputs.activated = inputs.activated && model_->act_ready_o != 0;
    outputs.returned = inputs.returned && model_->back_ready_o != 0;
    outputs.looked_up = inputs.looked_up && model_->look_ready_o != 0;
    outputs.filled = inputs.filled && model_->fill_ready_o != 0;
    outputs.dropped = inputs.dropped && model_->drop_ready_o != 0;
    outputs.pick = model_->pick_o != 0;
    outputs.listed = static_cast<std::uint32_t>(model_->listed_o);
    outputs.held = static_cast<std::uint32_t>(model_->held_o);
    return outputs;
  }
  void take_answers(QpSchedulerOutputs& outputs) {
    if (model_->turn_valid_o != 0) {
      const auto turn = qp_scheduler_ports::Turn::take(model_.pins());
      outputs.turn = reply_of(turn.qp, turn.lookup);
    }
    if (model_->grant_valid_o != 0) {
      const auto grant = qp_scheduler_ports::Grant::take(model_.pins());
      outputs.grant = reply_of(grant.qp, static_cast<std::uint64_t>(ContextLookup::here));
      outputs.grant->slot = static_cast<std::uint32_t>(grant.slot);
      outputs.grant->quantum_bytes = static_cast<std::uint32_t>(grant.quantum_bytes);
    }
    if (model_->seen_valid_o != 0) {
      const auto seen = qp_scheduler_ports::Seen::take(model_.pins());
      outputs.seen = reply_of(seen.qp, seen.lookup);
      outputs.seen->slot = static_cast<std::uint32_t>(seen.slot);
    }
    if (model_->fetch_valid_o != 0) {
      const auto fetch = qp_scheduler_ports::Fetch::take(model_.pins());
      outputs.fetch = reply_of(fetch.qp, static_cast<std::uint64_t>(ContextLookup::fetched));
      outputs.fetch->slot = static_cast<std::uint32_t>(fetch.slot);
      if (fetch.evicts != 0) outputs.fetch->evicted = static_cast<std::uint32_t>(fetch.evicted_qp);
    }
  }
  static ContextReply reply_of(std::uint64_t qp, std::uint64_t lookup) {
    ContextReply reply;
    reply.qp = static_cast<std::uint32_t>(qp);
    reply.lookup = static_cast<ContextLookup>(lookup);
    return reply;
  }
  /// Clocks until the pin was 1 before the edge.
  template <typename PinType>
  void wait_for(const PinType& pin, const char* what) {
    wait_in_cycle(pin, what);
    model_.high();
  }
  /// Clocks until the pin is 1 in a cycle, whose edge is not made.
  template <typename PinType>
  void wait_in_cycle(const PinType& pin, const char* what) {
    clock_until_ready(model_, pin, kMostCycles, what);
  }
  template <typename Valid, typename Ready>
  void take(Valid& valid, const Ready& ready) {
    valid = 1;
    wait_for(ready, "qp_scheduler: an operation is not taken");
    valid = 0;
    model_.clock();
  }
  template <typename Ready>
  void take_output(Ready& ready) {
    ready = 1;
    model_.clock();
    ready = 0;
  }
  void settle() {
    for (int cycle = 0; cycle < 3; ++cycle) model_.clock();
  }
  void finish(ContextReply& reply, std::uint64_t begun) {
    if (reply.lookup == ContextLookup::fetched) {
      wait_for(model_->fetch_valid_o, "qp_scheduler: no fetch begins");
      const auto fetch = qp_scheduler_ports::Fetch::take(model_.pins());
      reply.slot = static_cast<std::uint32_t>(fetch.slot);
      if (fetch.evicts != 0) reply.evicted = static_cast<std::uint32_t>(fetch.evicted_qp);
      reply.latency_cycles = static_cast<std::uint32_t>(model_.cycles() - 1 - begun);
      take_output(model_->fetch_ready_i);
    }
    settle();
  }

  ClockedModel<Model> model_;
  cosim::TraceRecorder recorder_;
};

}  // namespace mrc
