// A Verilated model that has several blocks, whose engines clock it together: in each cycle those that have something
// to do set their inputs and look at their outputs, one after the other, and the rising edge comes when the first of
// them begins another cycle. No output may depend within the cycle on an input of another engine. Included only where a
// Verilated class is at hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cosim/clocked_model.h"

namespace mrc {

template <typename Model>
class SharedModel {
 public:
  /// What an engine does in cycles of which it knows nothing.
  struct Engine {
    std::function<void()> rest;         ///< its inputs offer and take nothing
    std::function<void()> before_edge;  ///< may be empty, as the next
    std::function<void()> after_edge;
    std::function<bool()> wants_cycle;  ///< in which nobody takes part; may be empty: never
    std::uint8_t* cycle_pin = nullptr;  ///< of its block's clock; null: that of the model
    bool takes_part = false;            ///< in this cycle: otherwise its clock is held
    std::uint64_t cycles = 0;           ///< in which it took part
  };

  ClockedModel<Model>& clocked() { return model_; }
  /// Engines that have the clock of the model, or one of their own for each block.
  void add(std::size_t engines) { engines_.resize(engines); }
  void add(const std::vector<std::uint8_t*>& cycle_pins) {
    add(cycle_pins.size());
    for (std::size_t i = 0; i < cycle_pins.size(); ++i) engines_[i].cycle_pin = cycle_pins[i];
  }
  void reset() {
    model_->rst_ni = 0;
    for (std::uint64_t cycle = 0; cycle < kMostResetCycles; ++cycle) {
      low();
      for (Engine& engine : engines_) engine.takes_part = true;
      edge();
    }
    model_->rst_ni = 1;
  }
  Engine& engine(std::size_t number) { return engines_[number]; }

  /// An engine takes part in cycle number `cycle`.
  void begin_cycle(std::uint64_t cycle) {
    if (open_ && cycle != cycle_) edge();
    if (!open_) {
      rest_all_but(engines_.size());
      make_up_for(cycle);
    }
    cycle_ = cycle;
  }
  /// The edge of a cycle that was left open.
  void settle() {
    if (!open_) return;
    edge();
    rest_all_but(engines_.size());
  }
  void low() { model_.low(); }
  /// The engine is ready for the edge, which waits for the others.
  void leave_open(std::size_t number) {
    engines_[number].takes_part = true;
    open_ = true;
  }
  /// The edge, in which only `number` has anything to do, and who has left the cycle open before.
  void edge_of(std::size_t number) {
    engines_[number].takes_part = true;
    edge();
    rest_all_but(number);
  }

 private:
  /// Nothing was inside in the cycles since the last one that anybody took part in: they are made as far as somebody
  /// wants them.
  void make_up_for(std::uint64_t cycle) {
    const auto wanted = [&] {
      return std::ranges::any_of(engines_, [](const Engine& e) { return e.wants_cycle && e.wants_cycle(); });
    };
    for (std::uint64_t missed = cycle_ + 1; missed < cycle && wanted(); ++missed) {
      low();
      edge();
    }
  }
  void edge() {
    for (const Engine& engine : engines_) {
      if (engine.before_edge) engine.before_edge();
    }
    for (Engine& engine : engines_) {
      if (engine.cycle_pin != nullptr && engine.takes_part) model_.begin_cycle_of(*engine.cycle_pin);
      engine.cycles += engine.takes_part ? 1 : 0;
      engine.takes_part = false;
    }
    model_.high();
    open_ = false;
    for (const Engine& engine : engines_) {
      if (engine.after_edge) engine.after_edge();
    }
  }
  void rest_all_but(std::size_t number) {
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      if (i != number && engines_[i].rest) engines_[i].rest();
    }
  }

  ClockedModel<Model> model_;
  std::vector<Engine> engines_;
  std::uint64_t cycle_ = 0;
  bool open_ = false;
};

/// An engine's share of the clock, in the place of ClockedModel. `Pins`: as it names them.
template <typename Model, typename Pins = Model>
class SharedClock {
 public:
  /// Of engine `number`.
  SharedClock(std::shared_ptr<SharedModel<Model>> shared, std::size_t number)
      : shared_(std::move(shared)), pins_(shared_->clocked().pins()), number_(number) {}

  Pins* operator->() { return &pins_; }
  const Pins* operator->() const { return &pins_; }
  Pins& pins() { return pins_; }
  const Pins& pins() const { return pins_; }

  void begin_cycle(std::uint64_t cycle) {
    shared_->begin_cycle(cycle);
    by_pins_ = true;
  }
  /// What was begun by pins is done, before something else is.
  void settle() { shared_->settle(); }
  void low() { shared_->low(); }
  void high() {
    if (std::exchange(by_pins_, false)) {
      shared_->leave_open(number_);
    } else {
      shared_->edge_of(number_);
    }
  }
  template <typename SetInputs>
  void next(const SetInputs& set_inputs) {
    high();
    set_inputs();
    low();
  }
  void next() {
    next([] {});
  }
  void clock() {
    low();
    high();
  }
  template <typename Rest>
  void on_rest(const Rest& rest) {
    shared_->engine(number_).rest = rest;
  }
  /// In each cycle, whoever has made it.
  void on_edge(std::function<void()> before, std::function<void()> after = {}) {
    shared_->engine(number_).before_edge = std::move(before);
    shared_->engine(number_).after_edge = std::move(after);
  }
  /// To be called before the edge: the block has this cycle though its engine was not asked.
  void take_part() { shared_->engine(number_).takes_part = true; }
  /// Asked for each cycle in which no engine takes part.
  void on_idle(std::function<bool()> wants_cycle) { shared_->engine(number_).wants_cycle = std::move(wants_cycle); }
  /// Whoever has made the model has done so.
  void reset() {}
  void restart_count() { shared_->engine(number_).cycles = 0; }
  std::uint64_t cycles() const { return shared_->engine(number_).cycles; }

 private:
  /// The model itself, or names for its pins.
  using Kept = std::conditional_t<std::is_same_v<Pins, Model>, Model&, Pins>;

  std::shared_ptr<SharedModel<Model>> shared_;
  Kept pins_;
  std::size_t number_;
  bool by_pins_ = false;
};

}  // namespace mrc
