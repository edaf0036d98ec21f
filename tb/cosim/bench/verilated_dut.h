// Dut over a Verilated class with waves and coverage. Included only where one is at hand.
#pragma once

#include <memory>
#include <string>

#include <verilated.h>
#include <verilated_cov.h>
#include <verilated_fst_c.h>

#include "cosim/bench/dut.h"
#include "results/fst_errors.h"

namespace mrc::cosim {

#ifdef MRCSIM_BENCH_ASSERTIONS
inline constexpr bool kBenchAsserts = true;
#else
inline constexpr bool kBenchAsserts = false;
#endif

/// Every register and memory begins with random bits, keyed by `seed`. A class that was Verilated without waves writes
/// none.
template <typename Model>
class VerilatedDut : public Dut {
 public:
  explicit VerilatedDut(std::uint64_t seed) : context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    VerilatedDut::key_draws(seed);
    context_->traceEverOn(kTraces);
    model_ = std::make_unique<Model>(context_.get());
  }
  ~VerilatedDut() override {
    if (waves_) waves_->close();
    model_->final();
    use_context();
  }

  Model& model() { return *model_; }
  void set_reset(bool active) override { model_->rst_ni = active ? 0 : 1; }
  void key_draws(std::uint64_t key) override { context_->randSeed(static_cast<int>(key % 2'000'000'000 + 1)); }
  bool asserts() const override { return kBenchAsserts; }
  void low() override { edge(0); }
  void settle() override {
    const FailureListener listener(failed);
    use_context();
    model_->eval();
  }
  void high() override { edge(1); }
  void open_waves(const std::string& path) override {
    if constexpr (kTraces) {
      mrcsim_fst_clear_errors();
      waves_ = std::make_unique<VerilatedFstC>();
      model_->trace(waves_.get(), 99);
      waves_->open(path.c_str());
    }
  }
  bool close_waves() override {
    if constexpr (kTraces) {
      if (!waves_) return true;
      const bool open = waves_->isOpen();
      waves_->close();
      waves_.reset();
      return open && mrcsim_fst_errors() == 0;
    }
    return true;
  }
  void write_coverage(const std::string& path) override { context_->coveragep()->write(path.c_str()); }

 private:
  static constexpr bool kTraces = requires(Model & model, VerilatedFstC* waves) { model.trace(waves, 99); };

  /// Draws, stops and the scopes of assertions take the context of the thread, which may be that of a model that is
  /// gone.
  void use_context() { Verilated::threadContextp(context_.get()); }

  void edge(std::uint8_t clock) {
    model_->clk_i = clock;
    VerilatedDut::settle();
    ++half_cycles_;
    if (waves_) waves_->dump(half_cycles_);
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<VerilatedFstC> waves_;
  std::uint64_t half_cycles_ = 0;
};

}  // namespace mrc::cosim
