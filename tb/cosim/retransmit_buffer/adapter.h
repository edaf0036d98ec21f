// Drives a Verilated retransmit_buffer_flat command by command. Included only where a Verilated class is at hand.
#pragma once

#include <memory>
#include <stdexcept>

#include <verilated.h>

#include "cosim/retransmit_buffer/pins.h"
#include "nic/tx/retransmit_buffer_engine.h"

namespace mrc {

/// Clocked from the command to its response and not otherwise; events and responses are taken at once.
template <typename Model>
class RetransmitBufferAdapter : public RetransmitBufferEngine {
 public:
  RetransmitBufferAdapter()
      : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {
    model_->evt_ready_i = 1;
    model_->rsp_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
    while (model_->cmd_ready_o == 0) clock();  // memories are cleared
    cycles_ = 0;
  }
  ~RetransmitBufferAdapter() override { model_->final(); }

  const RetransmitReply& run(const RetransmitCommand& command) override {
    const std::uint64_t begin = cycles_;
    reply_.events.clear();
    // The response of the command before is taken with this command's first cycle.
    while (model_->cmd_ready_o == 0) clock();
    put_command(*model_, command);
    clock();
    model_->cmd_valid_i = 0;
    while (model_->rsp_valid_o == 0) {
      if (cycles_ - begin > kMostCycles) throw std::runtime_error("retransmit_buffer RTL does not end a command");
      if (model_->evt_valid_o != 0) reply_.events.push_back(event_of(*model_));
      clock();
    }
    take_reply(*model_, command.op, reply_);
    last_cycles_ = cycles_ - begin;
    return reply_;
  }
  std::uint64_t cycles() const override { return cycles_; }
  std::uint64_t last_cycles() const override { return last_cycles_; }

 private:
  static constexpr std::uint64_t kMostCycles = 1'000'000;

  void clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++cycles_;
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  RetransmitReply reply_;
  std::uint64_t cycles_ = 0;
  std::uint64_t last_cycles_ = 0;
};

}  // namespace mrc
