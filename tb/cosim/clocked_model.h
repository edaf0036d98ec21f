// A Verilated block that an engine drives: its clock, its reset and the count of its cycles. Included only where a
// Verilated class is at hand.
#pragma once

#include <cstdint>
#include <memory>

#include <verilated.h>

#include "cosim/contract.h"
#include "cosim/pin.h"
#include "engine/pins_engine.h"
#include "engine/rtl_error.h"

namespace mrc {

/// Handshakes of a cycle in which an item is one transfer. `ready` of the input, `valid` of the output; `offers`: an
/// item is at the input; `takes`: what is at the output is taken.
inline PinCycle single_transfers(bool ready, bool offers, bool valid, bool takes) {
  const bool taken = ready && offers;
  return {.ready = ready, .begun = taken, .taken = taken, .out_waits = valid && !takes};
}

template <typename Model>
class ClockedModel {
 public:
  ClockedModel() : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {
    model_->eval();  // changes of inputs are edges from the second evaluation on
  }
  ~ClockedModel() { model_->final(); }
  ClockedModel(const ClockedModel&) = delete;
  ClockedModel& operator=(const ClockedModel&) = delete;

  Model* operator->() { return model_.get(); }
  const Model* operator->() const { return model_.get(); }
  Model& pins() { return *model_; }
  const Model& pins() const { return *model_; }

  /// Between the edges of the clock: the inputs are taken, and the outputs that depend on them settle.
  void low() {
    if constexpr (kTakesInputs) {
      take_inputs();
    } else if constexpr (!kHasCycles) {
      model_->clk_i = 0;
    }
    model_->eval();
  }
  /// The rising edge, which ends the cycle. Inputs that were set since the last low() or next() may count or not.
  void high() {
    if constexpr (kHasCycles) {
      begin_cycle_of(model_->cycle_i);
    } else {
      model_->clk_i = 1;
    }
    model_->eval();
    ++cycles_;
  }
  /// high(), `set_inputs` and low(): one evaluation instead of two, if the model takes its inputs. `set_inputs` may not
  /// look at outputs, which are those before the edge or behind it.
  template <typename SetInputs>
  void next(const SetInputs& set_inputs) {
    if constexpr (kTakesInputs) {
      set_inputs();
      take_inputs();
      high();
    } else {
      high();
      set_inputs();
      low();
    }
  }
  /// The same inputs in the next cycle.
  void next() {
    if constexpr (kTakesInputs) {
      high();
    } else {
      next([] {});
    }
  }
  /// low() and high(); one evaluation instead of two, if the model has cycles and does not take its inputs.
  void clock() {
    if constexpr (kTakesInputs || !kHasCycles) low();
    high();
  }
  /// In reset for as long as any contract asks for. The inputs that are not 0 from the start on are set before.
  void reset() {
    model_->rst_ni = 0;
    for (std::uint64_t cycle = 0; cycle < kMostResetCycles; ++cycle) clock();
    model_->rst_ni = 1;
    cycles_ = 0;
  }
  /// A cycle by pins begins. The block has its model for itself.
  void begin_cycle(std::uint64_t /*cycle*/) {}
  /// What sets the inputs so that nothing is offered: for a block with a model of its own nobody else clocks.
  template <typename Rest>
  void on_rest(const Rest& /*rest*/) {}
  /// Cycles from now on count.
  void restart_count() { cycles_ = 0; }
  std::uint64_t cycles() const { return cycles_; }

  /// The clock that has a cycle with each change of this pin has one with the next evaluation.
  static void begin_cycle_of(std::uint8_t& cycle_pin) { cycle_pin ^= 1; }

 private:
  /// BLOCK_run.sv of rtl_ports.py: a change is a cycle. Otherwise it has the clock itself.
  static constexpr bool kHasCycles = requires(Model & model) { model.cycle_i; };
  /// Its inputs count when they are taken. Otherwise they do in each evaluation.
  static constexpr bool kTakesInputs = requires(Model & model) { model.take_inputs_i; };

  void take_inputs() { model_->take_inputs_i ^= 1; }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::uint64_t cycles_ = 0;
};

/// Calls `clock` until `done`, which is looked at after each call. Throws RtlError, "<what>", after `most`
/// calls; returns how many there were.
template <typename Clock, typename Done>
std::uint64_t clock_until(const Clock& clock, const Done& done, std::uint64_t most, const char* what) {
  for (std::uint64_t calls = 1; calls <= most; ++calls) {
    clock();
    if (done()) return calls;
  }
  throw RtlError(what);
}

/// Clocks until `ready`, an output of the block, is 1 in a cycle, whose edge is still to come. Returns the cycles until
/// then, that one included. Throws as clock_until().
template <typename Clocked, typename PinType>
std::uint64_t clock_until_ready(Clocked& model, const PinType& ready, std::uint64_t most, const char* what) {
  model.low();
  if (ready != 0) return 1;
  return 1 + clock_until([&] { model.next(); }, [&] { return ready != 0; }, most, what);
}

/// As clock_until_ready(), for what is at the input: `valid` is set until it is taken.
template <typename Clocked, typename Valid, typename Ready>
std::uint64_t offer_until_taken(Clocked& model, Valid& valid, const Ready& ready, std::uint64_t most,
                                const char* what) {
  valid = 1;
  const std::uint64_t cycles = clock_until_ready(model, ready, most, what);
  model.next([&] { valid = 0; });
  return cycles;
}

}  // namespace mrc
