// Drives a Verilated pcie_dma_run transaction by transaction, or clocked by its pins. Included only where a Verilated
// class is at hand.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "cosim/clocked_model.h"
#include "cosim/mrc_pkg.h"
#include "cosim/pcie_dma/ports.h"
#include "cosim/pcie_dma/requests.h"
#include "cosim/trace.h"
#include "pcie/pcie_dma_engine.h"

namespace mrc {

static_assert(rtl::is_cpl_verdict<ReadTags::Verdict>());

/// What a bench can follow of a run. The tag of a completion or expiry is replaced by the name of its request, which
/// does not depend on timing.
class PcieDmaRecorder {
 public:
  PcieDmaRecorder(const cosim::TraceRecorder& recorder, std::uint32_t tags, std::uint32_t mrrs_log2,
                  std::uint32_t mps_log2)
      : recorder_(recorder), asked_(tags) {
    recorder_.set("mrrs_log2", mrrs_log2);
    recorder_.set("mps_log2", mps_log2);
    recorder_.set("tags", tags);
  }
  void read(const pcie_dma_ports::Rd& rd) { recorder_.add_in_turn(rd); }
  void write(const pcie_dma_ports::Wr& wr) { recorder_.add_in_turn(wr); }
  /// Follows what the block reports, beside the rest.
  void release(std::uint32_t bytes) { recorder_.add(pcie_dma_ports::Release{.bytes = bytes}); }
  void request(const ReadRequestTlp& request) {
    if (recorder_.records()) asked_.request(request);
  }
  void expire(std::uint16_t tag) {
    if (recorder_.records()) recorder_.add_in_turn(pcie_dma_ports::Expire{.tag = asked_.of(tag)});
  }
  void completion(pcie_dma_ports::Cpl cpl) {
    if (!recorder_.records()) return;
    cpl.tag = asked_.of(static_cast<std::uint16_t>(cpl.tag));
    recorder_.add_in_turn(cpl);
  }

 private:
  cosim::TraceRecorder recorder_;
  PcieDmaRequests asked_;
};

/// Clocked while a transaction is under way and not otherwise. Several calls share a cycle where the block's ports
/// allow it: reports and what an output register holds are taken with the next transaction's cycle.
template <typename Model, std::uint32_t kTags>
class PcieDmaAdapter : public PcieDmaEngine {
 public:
  /// `mrrs_bytes`, `mps_bytes`: powers of two, 128 … 4,096.
  PcieDmaAdapter(std::uint32_t mrrs_bytes, std::uint32_t mps_bytes, const cosim::TraceRecorder& recorder = {},
                 const RtlContract& contract = {})
      : recorder_(recorder, kTags, log2_of(mrrs_bytes), log2_of(mps_bytes)),
        request_cycles_(contract.least_latency("rd", "req", 2)),
        report_cycles_(std::max(contract.most_latency("cpl", "ordered", 3), contract.most_latency("cpl", "loose", 3))) {
    set_pin(model_->mrrs_log2_i, log2_of(mrrs_bytes));
    set_pin(model_->mps_log2_i, log2_of(mps_bytes));
    model_->req_ready_i = 1;
    model_.reset();
  }

  /// Goes in with the next cycle, whatever that is for.
  void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) override {
    const pcie_dma_ports::Rd rd{.address = address, .bytes = bytes, .job = job, .in_order = in_order};
    recorder_.read(rd);
    const auto taken = [&] { return model_->rd_valid_i == 0; };
    if (!taken()) clock_until([&] { clock(); }, taken, kMostCycles, "pcie_dma RTL does not take a read");
    model_->rd_valid_i = 1;
    rd.put(model_.pins());
  }

  std::optional<ReadRequestTlp> request() override {
    // What is asked for again goes first: it has to be there.
    if (repeats_) settle();
    model_->np_credit_i = 1;
    std::uint64_t quiet = 0;
    std::uint64_t waited = 0;
    do {
      if (++waited > kMostCycles) {
        if (model_->rd_valid_i != 0) throw RtlError("pcie_dma RTL neither takes a read nor requests it");
        break;
      }
      // A read, a release or a tag that comes with this cycle counts from the next one on.
      quiet = released_ > 0 || model_->rd_valid_i != 0 || unsettled_ > 0 ? 0 : quiet + 1;
      clock();
      // Correct RTL may pause, but not for want of a tag or of room.
    } while (model_->req_valid_o == 0 && (quiet + 1 < request_cycles_ || !lacks_something()));
    model_->np_credit_i = 0;
    if (model_->req_valid_o == 0) return std::nullopt;
    const ReadRequestTlp request = request_at_pins();
    recorder_.request(request);
    return request;
  }

  ReadTags::Verdict completion(const CompletionTlp& completion) override {
    const pcie_dma_ports::Cpl cpl{.tag = completion.tag,
                                  .bytes = completion.bytes,
                                  .byte_count = completion.byte_count,
                                  .poisoned = completion.poisoned};
    cpl.put(model_.pins());
    model_->cpl_valid_i = 1;
    clock();
    model_->cpl_valid_i = 0;
    std::uint64_t verdict_cycles = 1;
    const auto judged = [&] { return model_->verdict_valid_o != 0; };
    if (!judged())
      verdict_cycles += clock_until([&] { clock(); }, judged, kMostCycles, "pcie_dma RTL judges no completion");
    const auto verdict = static_cast<ReadTags::Verdict>(model_->verdict_o);
    if (verdict == ReadTags::Verdict::complete) unsettled_ = report_cycles_ - std::min(report_cycles_, verdict_cycles);
    repeats_ = repeats_ || completion.poisoned;
    recorder_.completion(cpl);
    return verdict;
  }
  void expire(std::uint16_t tag) override {
    recorder_.expire(tag);
    pcie_dma_ports::Expire{.tag = tag}.put(model_.pins());
    model_->expire_valid_i = 1;
    clock_until_taken(model_->expire_ready_o, "pcie_dma RTL does not take an expired request");
    model_->expire_valid_i = 0;
    repeats_ = true;
    unsettled_ = report_cycles_ - 1;
  }
  void release(std::uint32_t bytes) override {
    recorder_.release(bytes);
    released_ += bytes;
  }

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
    const pcie_dma_ports::Wr wr{.address = address, .bytes = bytes};
    recorder_.write(wr);
    wr.put(model_.pins());
    model_->wr_valid_i = 1;
    model_->tlp_ready_i = 0;
    clock_until_taken(model_->wr_ready_o, "pcie_dma RTL does not take a write");
    model_->wr_valid_i = 0;
    cuts_ = true;
  }
  std::optional<WriteTlp> write_tlp() override {
    model_->tlp_ready_i = 1;  // what lies in the output register was taken
    clock();
    model_->tlp_ready_i = 0;
    const auto valid = [&] { return model_->tlp_valid_o != 0; };
    if (!valid() && !cuts_) return std::nullopt;
    if (!valid()) clock_until([&] { clock(); }, valid, kMostCycles, "pcie_dma RTL does not end a write");
    const WriteTlp tlp = tlp_at_pins();
    cuts_ = !tlp.last;
    return tlp;
  }

  PcieDmaOutputs clock(const PcieDmaInputs& inputs) override {
    offer(inputs);
    model_.low();
    const PcieDmaOutputs outputs = handshakes(inputs);
    model_.high();
    return outputs;
  }

  std::uint64_t cycles() const override { return model_.cycles(); }

 private:
  static constexpr std::uint64_t kMostCycles = 1'000;

  bool lacks_something() const { return model_->stall_tags_o != 0 || model_->stall_buffer_o != 0; }

  void offer(const PcieDmaInputs& inputs) {
    using namespace pcie_dma_ports;
    if (const auto& read = inputs.read) {
      Rd{.address = read->address, .bytes = read->bytes, .job = read->job, .in_order = read->in_order}.put(
          model_.pins());
    }
    if (const auto& write = inputs.write) Wr{.address = write->address, .bytes = write->bytes}.put(model_.pins());
    if (const auto& cpl = inputs.completion) {
      Cpl{.tag = cpl->tag, .bytes = cpl->bytes, .byte_count = cpl->byte_count, .poisoned = cpl->poisoned}.put(
          model_.pins());
    }
    if (inputs.expired) Expire{.tag = *inputs.expired}.put(model_.pins());
    model_->rd_valid_i = inputs.read ? 1 : 0;
    model_->wr_valid_i = inputs.write ? 1 : 0;
    model_->cpl_valid_i = inputs.completion ? 1 : 0;
    model_->expire_valid_i = inputs.expired ? 1 : 0;
    model_->release_valid_i = inputs.released_bytes > 0 ? 1 : 0;
    set_pin(model_->release_bytes_i, inputs.released_bytes);
    model_->np_credit_i = inputs.credit ? 1 : 0;
    model_->tlp_ready_i = inputs.takes_tlp ? 1 : 0;
    model_->ordered_ready_i = 1;
    model_->loose_ready_i = 1;
  }
  PcieDmaOutputs handshakes(const PcieDmaInputs& inputs) {
    PcieDmaOutputs outputs;
    outputs.ready_for_read = model_->rd_ready_o != 0;
    outputs.ready_for_write = model_->wr_ready_o != 0;
    outputs.read_taken = inputs.read && outputs.ready_for_read;
    outputs.write_taken = inputs.write && outputs.ready_for_write;
    outputs.expired_taken = inputs.expired && model_->expire_ready_o != 0;
    if (model_->req_valid_o != 0) outputs.request = request_at_pins();
    if (model_->verdict_valid_o != 0) {
      outputs.verdict = static_cast<ReadTags::Verdict>(model_->verdict_o);
      outputs.verdict_tag = static_cast<std::uint16_t>(model_->verdict_tag_o);
    }
    if (model_->ordered_valid_o != 0) outputs.ordered = model_->ordered_job_o;
    if (model_->loose_valid_o != 0) outputs.loose = model_->loose_job_o;
    if (inputs.takes_tlp && model_->tlp_valid_o != 0) outputs.tlp = tlp_at_pins();
    outputs.lacks_tag = model_->stall_tags_o != 0;
    outputs.lacks_buffer = model_->stall_buffer_o != 0;
    outputs.buffer_bytes = model_->buffer_used_o;
    return outputs;
  }
  ReadRequestTlp request_at_pins() {
    const auto req = pcie_dma_ports::Req::take(model_.pins());
    return {.address = req.address,
            .bytes = static_cast<std::uint32_t>(req.bytes),
            .job = static_cast<std::uint32_t>(req.job),
            .tag = static_cast<std::uint16_t>(req.tag),
            .again = req.again != 0};
  }
  WriteTlp tlp_at_pins() {
    const auto tlp = pcie_dma_ports::Tlp::take(model_.pins());
    return {.address = tlp.address, .bytes = static_cast<std::uint32_t>(tlp.bytes), .last = tlp.last != 0};
  }

  static std::uint32_t log2_of(std::uint32_t bytes) { return static_cast<std::uint32_t>(std::countr_zero(bytes)); }

  void clock() {
    model_->release_valid_i = released_ > 0 ? 1 : 0;
    set_pin(model_->release_bytes_i, released_);
    released_ = 0;
    // Only whether a read is taken has to be seen before the edge.
    if (model_->rd_valid_i == 0) {
      model_.clock();
    } else {
      model_.low();
      const bool takes_read = model_->rd_ready_o != 0;
      model_.high();
      if (takes_read) model_->rd_valid_i = 0;
    }
    model_->ordered_ready_i = 0;
    model_->loose_ready_i = 0;
    unsettled_ -= unsettled_ > 0 ? 1 : 0;
  }
  template <typename Ready>
  void clock_until_taken(const Ready& ready, const char* what) {
    bool taken = false;
    const auto cycle = [&] {
      model_.low();
      taken = ready != 0;
      clock();
    };
    clock_until(
        cycle, [&] { return taken; }, kMostCycles, what);
  }
  /// Cycles until the result of a completion is at the ports.
  void settle() {
    while (unsettled_ > 0) clock();
  }

  ClockedModel<Model> model_;
  PcieDmaRecorder recorder_;
  std::uint64_t request_cycles_;  ///< from a read to its first request where nothing is lacking
  std::uint64_t report_cycles_;   ///< from a completion to the report of its read, at most
  std::uint64_t released_ = 0;
  std::uint64_t unsettled_ = 0;  ///< cycles until the reports are up to date
  bool cuts_ = false;            ///< a write has TLPs to come
  bool repeats_ = false;         ///< requests may have to be retried
};

}  // namespace mrc
