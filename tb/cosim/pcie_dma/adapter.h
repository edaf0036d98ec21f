// Drives a Verilated pcie_dma_flat transaction by transaction. Included only where a Verilated class is at hand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <verilated.h>

#include "cosim/pin.h"
#include "pcie/pcie_dma_engine.h"

namespace mrc {

/// Clocked while a transaction is under way and not otherwise. Several calls share a cycle where the block's ports
/// allow it: reports and what an output register holds are taken with the next transaction's cycle.
template <typename Model>
class PcieDmaAdapter : public PcieDmaEngine {
 public:
  /// `mrrs_bytes`, `mps_bytes`: powers of two, 128 … 4,096.
  PcieDmaAdapter(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes)
      : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {
    put(model_->mrrs_log2_i, std::countr_zero(mrrs_bytes));
    put(model_->mps_log2_i, std::countr_zero(mps_bytes));
    model_->req_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
    cycles_ = 0;
  }
  ~PcieDmaAdapter() override { model_->final(); }

  /// Goes in with the next cycle, whatever that is for.
  void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) override {
    for (std::uint32_t cycle = 0; model_->rd_valid_i != 0; ++cycle) {
      if (cycle == kMostCycles) throw std::runtime_error("pcie_dma RTL does not take a read");
      clock();
    }
    model_->rd_valid_i = 1;
    put(model_->rd_job_i, job);
    model_->rd_address_i = address;
    model_->rd_bytes_i = bytes;
    model_->rd_in_order_i = in_order ? 1 : 0;
  }

  std::optional<ReadRequestTlp> request() override {
    // What is asked for again goes first: it has to be there.
    if (repeats_) settle();
    model_->np_credit_i = 1;
    bool more = true;
    do {
      // A read, a release or a tag that comes with this cycle counts from the next one on.
      more = released_ > 0 || model_->rd_valid_i != 0 || unsettled_ > 0;
      clock();
    } while (model_->req_valid_o == 0 && more);
    model_->np_credit_i = 0;
    if (model_->req_valid_o == 0) return std::nullopt;
    return ReadRequestTlp{model_->req_address_o, model_->req_bytes_o, model_->req_job_o,
                          static_cast<std::uint16_t>(model_->req_tag_o), model_->req_retry_o != 0};
  }

  ReadTags::Verdict completion(const CompletionTlp& completion) override {
    model_->cpl_valid_i = 1;
    put(model_->cpl_tag_i, completion.tag);
    put(model_->cpl_bytes_i, completion.bytes);
    put(model_->cpl_byte_count_i, completion.byte_count);
    model_->cpl_poisoned_i = completion.poisoned ? 1 : 0;
    clock();
    model_->cpl_valid_i = 0;
    const auto verdict = static_cast<ReadTags::Verdict>(model_->verdict_o);
    if (verdict == ReadTags::Verdict::complete) unsettled_ = 2;
    repeats_ = repeats_ || completion.poisoned;
    return verdict;
  }
  void expire(std::uint16_t tag) override {
    model_->expire_valid_i = 1;
    put(model_->expire_tag_i, tag);
    clock();
    model_->expire_valid_i = 0;
    repeats_ = true;
    unsettled_ = 2;
  }
  void release(std::uint32_t bytes) override { released_ += bytes; }

  std::optional<std::uint32_t> ordered_done() override {
    settle();
    if (model_->ordered_ready_i != 0) clock();
    if (model_->ordered_valid_o == 0) return std::nullopt;
    model_->ordered_ready_i = 1;
    return model_->ordered_job_o;
  }
  std::optional<std::uint32_t> loose_done() override {
    settle();
    if (model_->loose_ready_i != 0) clock();
    if (model_->loose_valid_o == 0) return std::nullopt;
    model_->loose_ready_i = 1;
    return model_->loose_job_o;
  }

  void write(std::uint64_t address, std::uint32_t bytes) override {
    model_->wr_valid_i = 1;
    model_->wr_address_i = address;
    model_->wr_bytes_i = bytes;
    model_->tlp_ready_i = 0;
    clock_until([&] { return model_->wr_ready_o != 0; }, "take a write");
    model_->wr_valid_i = 0;
  }
  std::optional<WriteTlp> write_tlp() override {
    model_->tlp_ready_i = 1;  // what lies in the output register was taken
    clock();
    model_->tlp_ready_i = 0;
    if (model_->tlp_valid_o == 0) return std::nullopt;
    return WriteTlp{model_->tlp_address_o, model_->tlp_bytes_o, model_->tlp_last_o != 0};
  }

  std::uint64_t cycles() const override { return cycles_; }

 private:
  static constexpr std::uint32_t kMostCycles = 1'000;

  void clock() {
    model_->release_valid_i = released_ > 0 ? 1 : 0;
    put(model_->release_bytes_i, released_);
    released_ = 0;
    model_->clk_i = 0;
    model_->eval();
    const bool takes_read = model_->rd_ready_o != 0;
    model_->clk_i = 1;
    model_->eval();
    if (takes_read) model_->rd_valid_i = 0;
    model_->ordered_ready_i = 0;
    model_->loose_ready_i = 0;
    ++cycles_;
    unsettled_ -= unsettled_ > 0 ? 1 : 0;
  }
  /// Cycles until the result of a completion is at the ports.
  void settle() {
    while (unsettled_ > 0) clock();
  }
  template <typename Ready>
  void clock_until(const Ready& ready, const char* what) {
    for (std::uint32_t cycle = 0; cycle < kMostCycles; ++cycle) {
      model_->clk_i = 0;
      model_->eval();
      const bool taken = ready();
      clock();
      if (taken) return;
    }
    throw std::runtime_error(std::string("pcie_dma RTL does not ") + what);
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::uint64_t cycles_ = 0;
  std::uint64_t released_ = 0;
  std::uint32_t unsettled_ = 0;  ///< cycles until the reports are up to date
  bool repeats_ = false;         ///< requests may have to be retried
};

}  // namespace mrc
