// Drives a Verilated psn_tracker_flat request by request. Included only where a Verilated class is at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>

#include <verilated.h>

#include "cosim/psn_tracker/pins.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

/// Clocked while a request is under way and not otherwise.
template <typename Model>
class PsnTrackerAdapter : public PsnTrackerEngine {
 public:
  explicit PsnTrackerAdapter(const PsnTrackerSettings& settings)
      : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {
    put_settings(*model_, settings);
    model_->rsp_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
    cycles_ = 0;
  }
  ~PsnTrackerAdapter() override { model_->final(); }

  PsnReply run(const PsnRequest& request) override {
    put_request(*model_, request);
    model_->req_valid_i = 1;
    clock();  // the block is empty: it takes the request at once
    model_->req_valid_i = 0;
    latency_cycles_ = 1;  // what the last clock edge registers is on the wires in the cycle after it
    do {
      if (++latency_cycles_ > kMostCycles) throw std::runtime_error("psn_tracker RTL does not answer");
      clock();
    } while (model_->rsp_valid_o == 0);
    return reply_of(*model_);
  }
  std::uint32_t banks_in_use() const override { return model_->banks_in_use_o; }
  std::uint32_t latency_cycles() const override { return latency_cycles_; }
  std::uint64_t cycles() const override { return cycles_; }

 private:
  static constexpr std::uint32_t kMostCycles = 1'000;

  void clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++cycles_;
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::uint32_t latency_cycles_ = 0;
  std::uint64_t cycles_ = 0;
};

}  // namespace mrc
