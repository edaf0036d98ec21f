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
  ClockedModel() : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {}
  ~ClockedModel() { model_->final(); }
  ClockedModel(const ClockedModel&) = delete;
  ClockedModel& operator=(const ClockedModel&) = delete;

  Model* operator->() { return model_.get(); }
  const Model* operator->() const { return model_.get(); }
  Model& pins() { return *model_; }
  const Model& pins() const { return *model_; }

  /// The falling edge: outputs that depend on inputs of this cycle settle.
  void low() { edge(0); }
  /// The rising edge, which ends the cycle.
  void high() {
    edge(1);
    ++cycles_;
  }
  void clock() {
    low();
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

 private:
  void edge(std::uint8_t clock) {
    model_->clk_i = clock;
    model_->eval();
  }

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

/// Clocks until `pin`, an output of the block, is 1 before the clock edge that `end` makes. Errors and result as
/// clock_until().
template <typename Model, typename PinType, typename End>
std::uint64_t clock_until_set(ClockedModel<Model>& model, const PinType& pin, const End& end, std::uint64_t most,
                              const char* what) {
  bool set = false;
  const auto clock = [&] {
    model.low();
    set = pin != 0;
    end();
  };
  return clock_until(
      clock, [&] { return set; }, most, what);
}

}  // namespace mrc
