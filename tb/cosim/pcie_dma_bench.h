// Drives every port of a Verilated pcie_dma_flat at random, cycle by cycle, and compares all that it puts out with
// PcieDmaReference: request, tag, verdict, report, write TLP, buffer level and stall cause, and that nothing offered is
// taken back. Included only where a Verilated class is at hand.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <verilated.h>

#include "cosim/pin.h"
#include "mrc/random.h"
#include "pcie/pcie_dma_reference.h"

namespace mrc {

struct PcieDmaBenchResult {
  std::uint64_t transactions = 0;  ///< reads, completions, expiries and writes that the block took
  std::uint64_t cycles = 0;
  std::uint64_t mismatches = 0;
  std::string first_mismatch;                 ///< cycle, field, both values
  std::map<std::string, std::uint64_t> bins;  ///< functional coverage
};

template <typename Model>
class PcieDmaBench {
 public:
  PcieDmaBench(const PcieDmaSizes& sizes, std::uint64_t seed)
      : sizes_(sizes), random_(seed, "pcie_dma.bench"), context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed % 1'000'000 + 1));
    model_ = std::make_unique<Model>(context_.get());
    for (const char* bin : kBins) result_.bins[bin] = 0;
  }
  ~PcieDmaBench() { model_->final(); }

  /// Until the block has taken so many transactions, or something differs.
  PcieDmaBenchResult run(std::uint64_t transactions) {
    while (result_.transactions < transactions && result_.mismatches == 0) {
      reset();
      const std::uint64_t most = result_.transactions + 500 + random_.below(10'000);
      while (result_.transactions < std::min(most, transactions) && result_.mismatches == 0) {
        if (random_.chance(0.005)) choose_load();
        cycle(true);
      }
      if (random_.chance(0.5)) drain();
      ++result_.bins[busy() ? "reset with work under way" : "reset when idle"];
    }
    return result_;
  }

 private:
  static constexpr std::array kBins{"reset with work under way",
                                    "read inside a block",
                                    "read over a block boundary",
                                    "read over 4 KiB",
                                    "MRRS 128",
                                    "MRRS 256",
                                    "MRRS 512",
                                    "MRRS 1024",
                                    "MRRS 2048",
                                    "MRRS 4096",
                                    "MPS 128",
                                    "MPS 256",
                                    "MPS 512",
                                    "MPS 1024",
                                    "MPS 2048",
                                    "MPS 4096",
                                    "read of 1 byte",
                                    "no tag free",
                                    "buffer full",
                                    "buffer filled to the byte",
                                    "verdict unexpected",
                                    "verdict behind a loss",
                                    "verdict accepted",
                                    "verdict complete",
                                    "poisoned completion",
                                    "tag unknown",
                                    "second copy",
                                    "request again",
                                    "expired",
                                    "expired, not outstanding",
                                    "expiry waits for completion",
                                    "completions back to back, one tag",
                                    "completions back to back, one read",
                                    "request waits for ready",
                                    "report waits for ready",
                                    "loose report waits for ready",
                                    "write TLP waits for ready",
                                    "read passes an older one",
                                    "in-order report waits for an older read",
                                    "write of one TLP",
                                    "write of many TLPs",
                                    "write over 4 KiB",
                                    "request, completion and write TLP in one cycle",
                                    "release and request in one cycle",
                                    "reset when idle"};

  /// A request as the host answers it.
  struct Asked {
    ReadRequestTlp request;
    std::uint32_t sent = 0;
    bool dead = false;  ///< something of it was lost: it is to expire
  };
  struct Load {
    double read = 0.5, write = 0.5, credit = 0.9, request_ready = 0.9, completion = 0.9, report_ready = 0.9,
           tlp_ready = 0.9, release = 0.5, fault = 0.01, small = 0.5;
  };
  struct Outputs {
    bool request, ordered, loose, tlp;
    ReadRequestTlp request_fields;
    std::uint32_t ordered_job, loose_job;
    WriteTlp tlp_fields;
  };

  void choose_load() {
    constexpr std::array<double, 5> shares{0.02, 0.1, 0.5, 0.9, 1.0};
    const auto draw = [&] { return shares[random_.below(shares.size())]; };
    load_ = {draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw(), random_.chance(0.5) ? 0.0 : 0.05, draw()};
  }

  void reset() {
    mrrs_ = 128U << random_.below(6);
    mps_ = 128U << random_.below(6);
    ++result_.bins[fmt::format("MRRS {}", mrrs_)];
    ++result_.bins[fmt::format("MPS {}", mps_)];
    reference_.emplace(sizes_, mrrs_, mps_);
    asked_.clear();
    free_jobs_.clear();
    for (std::uint32_t job = 0; job < sizes_.jobs; ++job) free_jobs_.push_back(job);
    job_order_.clear();
    to_release_ = 0;
    last_completion_.reset();
    last_expiry_.reset();
    stable_.reset();
    put(model_->mrrs_log2_i, std::countr_zero(mrrs_));
    put(model_->mps_log2_i, std::countr_zero(mps_));
    model_->rd_valid_i = model_->wr_valid_i = model_->cpl_valid_i = model_->expire_valid_i = 0;
    model_->release_valid_i = 0;
    model_->rst_ni = 0;
    for (std::uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i) edge();
    model_->rst_ni = 1;
    choose_load();
  }
  bool busy() const { return !reference_->idle() || !asked_.empty(); }

  void drain() {
    load_ = {0, 0, 1, 1, 1, 1, 1, 1, 0, 0};
    for (std::uint64_t i = 0; i < 200'000 && result_.mismatches == 0; ++i) {
      cycle(false);
      if (!busy() && i > 16) break;
    }
    if (busy()) mismatch("drain", "idle", "work that does not end");
    if (model_->req_valid_o || model_->ordered_valid_o || model_->loose_valid_o || model_->tlp_valid_o) {
      mismatch("drain", "no output", "an output that nobody asked for");
    }
  }

  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++result_.cycles;
  }

  template <typename A, typename B>
  void mismatch(const char* field, const A& expected, const B& actual) {
    if (result_.mismatches++ == 0) {
      result_.first_mismatch =
          fmt::format("cycle {}: {}: expected {}, RTL gave {}", result_.cycles, field, expected, actual);
    }
  }
  template <typename A, typename B>
  void compare(const char* field, const A& expected, const B& actual) {
    if (static_cast<std::uint64_t>(expected) != static_cast<std::uint64_t>(actual)) {
      mismatch(field, static_cast<std::uint64_t>(expected), static_cast<std::uint64_t>(actual));
    }
  }
  void compare(const ReadRequestTlp& expected, const ReadRequestTlp& actual) {
    compare("request.again", expected.again, actual.again);
    compare("request.address", expected.address, actual.address);
    compare("request.bytes", expected.bytes, actual.bytes);
    compare("request.job", expected.job, actual.job);
    compare("request.tag", expected.tag, actual.tag);
  }

  // Stimulus. An offer stays until it is taken.
  void offer_read() {
    if (model_->rd_valid_i != 0 || free_jobs_.empty() || !random_.chance(load_.read)) return;
    const std::size_t pick = random_.below(free_jobs_.size());
    std::swap(free_jobs_[pick], free_jobs_.back());
    model_->rd_valid_i = 1;
    put(model_->rd_job_i, free_jobs_.back());
    free_jobs_.pop_back();
    std::uint64_t bytes = 1 + random_.below(random_.chance(load_.small) ? 200 : 9'000);
    if (random_.chance(0.1)) bytes = mrrs_ << random_.below(3);
    if (random_.chance(0.02)) bytes = 1;
    bytes = std::min(bytes, sizes_.completion_buffer_bytes);
    std::uint64_t address = random_.next() >> random_.below(40);
    if (random_.chance(0.3)) address &= ~std::uint64_t{4095};
    if (random_.chance(0.3)) address |= 4095 - random_.below(130);
    model_->rd_bytes_i = static_cast<std::uint32_t>(bytes);
    model_->rd_address_i = address;
    model_->rd_in_order_i = random_.chance(0.6) ? 1 : 0;
  }
  void offer_write() {
    if (model_->wr_valid_i != 0 || !random_.chance(load_.write)) return;
    model_->wr_valid_i = 1;
    model_->wr_bytes_i = static_cast<std::uint32_t>(1 + random_.below(random_.chance(load_.small) ? 200 : 9'000));
    std::uint64_t address = random_.next();
    if (random_.chance(0.3)) address |= 4095 - random_.below(130);
    model_->wr_address_i = address;
  }
  void offer_completion(bool faults) {
    model_->cpl_valid_i = 0;
    if (asked_.empty() || !random_.chance(load_.completion)) return;
    if (faults && random_.chance(load_.fault)) {
      offer_faulty_completion();
      return;
    }
    std::size_t pick = random_.below(asked_.size());
    if (random_.chance(0.7) && last_pick_ < asked_.size()) pick = last_pick_;
    last_pick_ = pick;
    Asked& asked = asked_[pick];
    if (asked.sent == asked.request.bytes) return;
    const std::uint64_t address = asked.request.address + asked.sent;
    const std::uint32_t rcb = random_.chance(0.5) ? 64 : mps_;
    std::uint32_t chunk = bytes_in_block(address, asked.request.bytes - asked.sent, rcb);
    if (rcb == 64 && random_.chance(0.5)) chunk = asked.request.bytes - asked.sent;
    put_completion(asked.request.tag, chunk, asked.request.bytes - asked.sent, faults && random_.chance(load_.fault));
    if (faults && random_.chance(load_.fault)) {  // lost on its way
      model_->cpl_valid_i = 0;
      asked.dead = true;
    }
    asked.sent += chunk;
  }
  /// A tag may be given out before what is offered now is looked at: then it is not unknown any more.
  bool may_give_tag() const {
    return reference_->splitting() || reference_->repeating() || model_->rd_valid_i != 0 || last_completion_ ||
           last_expiry_;
  }
  void offer_faulty_completion() {
    const auto tag = static_cast<std::uint16_t>(random_.below(sizes_.tags));
    const ReadTags::Tag& state = reference_->tag(tag);
    if (!state.outstanding) {
      if (may_give_tag()) return;
      ++result_.bins["tag unknown"];
      put_completion(tag, 64, 64 + 64 * static_cast<std::uint32_t>(random_.below(8)), false);
    } else if (state.received > 0 && !(last_completion_ && last_completion_->tag == tag) && !last_expiry_) {
      ++result_.bins["second copy"];
      const std::uint32_t owed =
          state.bytes - state.received + 1 + static_cast<std::uint32_t>(random_.below(state.received));
      put_completion(tag, std::min(owed, 64U), owed, false);
    }
  }
  void put_completion(std::uint16_t tag, std::uint32_t bytes, std::uint32_t byte_count, bool poisoned) {
    model_->cpl_valid_i = 1;
    put(model_->cpl_tag_i, tag);
    put(model_->cpl_bytes_i, bytes);
    put(model_->cpl_byte_count_i, byte_count);
    model_->cpl_poisoned_i = poisoned ? 1 : 0;
    if (poisoned) ++result_.bins["poisoned completion"];
  }
  /// A request that lost something; its later completions are dropped.
  void offer_expiry() {
    if (model_->expire_valid_i != 0 || !random_.chance(0.1)) return;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (!asked_[i].dead) continue;
      model_->expire_valid_i = 1;
      put(model_->expire_tag_i, asked_[i].request.tag);
      asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (!random_.chance(load_.fault / 10)) return;
    const auto tag = static_cast<std::uint16_t>(random_.below(sizes_.tags));
    if (reference_->tag(tag).outstanding || may_give_tag()) return;
    ++result_.bins["expired, not outstanding"];
    model_->expire_valid_i = 1;
    put(model_->expire_tag_i, tag);
  }
  void offer_release() {
    model_->release_valid_i = to_release_ > 0 && random_.chance(load_.release) ? 1 : 0;
    const std::uint64_t most = std::min<std::uint64_t>(to_release_, 4096);
    put(model_->release_bytes_i, most == 0 ? 0 : (random_.chance(0.5) ? most : 1 + random_.below(most)));
  }

  Outputs outputs() const {
    return {model_->req_valid_o != 0,
            model_->ordered_valid_o != 0,
            model_->loose_valid_o != 0,
            model_->tlp_valid_o != 0,
            {model_->req_address_o, model_->req_bytes_o, model_->req_job_o,
             static_cast<std::uint16_t>(model_->req_tag_o), model_->req_retry_o != 0},
            model_->ordered_job_o,
            model_->loose_job_o,
            {model_->tlp_address_o, model_->tlp_bytes_o, model_->tlp_last_o != 0}};
  }
  /// What was offered and not taken at the last edge is still there.
  void check_stability(const Outputs& out) {
    if (!stable_) return;
    const Outputs& before = stable_->out;
    if (stable_->request && !(out.request && out.request_fields == before.request_fields)) {
      mismatch("request handshake", "the same request", "another or none");
    }
    if (stable_->ordered && !(out.ordered && out.ordered_job == before.ordered_job)) {
      mismatch("ordered handshake", "the same report", "another or none");
    }
    if (stable_->loose && !(out.loose && out.loose_job == before.loose_job)) {
      mismatch("loose handshake", "the same report", "another or none");
    }
    if (stable_->tlp && !(out.tlp && out.tlp_fields == before.tlp_fields)) {
      mismatch("tlp handshake", "the same TLP", "another or none");
    }
  }

  void cycle(bool new_work) {
    if (new_work) {
      offer_read();
      offer_write();
    }
    offer_completion(new_work);
    offer_expiry();
    offer_release();
    model_->np_credit_i = random_.chance(load_.credit) ? 1 : 0;
    model_->req_ready_i = random_.chance(load_.request_ready) ? 1 : 0;
    model_->ordered_ready_i = random_.chance(load_.report_ready) ? 1 : 0;
    model_->loose_ready_i = random_.chance(load_.report_ready) ? 1 : 0;
    model_->tlp_ready_i = random_.chance(load_.tlp_ready) ? 1 : 0;
    model_->clk_i = 0;
    model_->eval();

    const Outputs out = outputs();
    check_stability(out);
    check_levels();
    const bool forms =
        model_->np_credit_i != 0 && reference_->can_request() && (!out.request || model_->req_ready_i != 0);
    std::optional<ReadRequestTlp> formed;
    if (forms) formed = reference_->request();
    if (out.request && model_->req_ready_i != 0) asked_.push_back({out.request_fields, 0, false});
    take_reports(out);
    apply_completion();
    take_inputs();
    stable_ = Stable{out, out.request && model_->req_ready_i == 0, out.ordered && model_->ordered_ready_i == 0,
                     out.loose && model_->loose_ready_i == 0, out.tlp && model_->tlp_ready_i == 0};
    count_bins(out, formed);
    edge();
    withdraw_taken();

    if (formed) {
      if (model_->req_valid_o == 0) mismatch("request", "one", "none");
      compare(*formed, outputs().request_fields);
    } else if (model_->req_valid_o != 0 && !stable_->request) {
      mismatch("request", "none", "one");
    }
  }

  void check_levels() {
    compare("buffer_used", reference_->buffer_used(), model_->buffer_used_o);
    const bool work = reference_->splitting() || reference_->repeating();
    compare("stall_tags", work && !reference_->has_tag(), model_->stall_tags_o);
    const bool full =
        reference_->splitting() && !reference_->repeating() && reference_->has_tag() && !reference_->fits();
    compare("stall_buffer", full, model_->stall_buffer_o);
  }
  void take_reports(const Outputs& out) {
    if (out.ordered && model_->ordered_ready_i != 0) {
      report("ordered", reference_->ordered_done(), out.ordered_job);
    }
    if (out.loose && model_->loose_ready_i != 0) report("loose", reference_->loose_done(), out.loose_job);
    if (out.tlp && model_->tlp_ready_i != 0) {
      const auto expected = reference_->write_tlp();
      if (!expected) {
        mismatch("tlp", "none", "one");
        return;
      }
      compare("tlp.address", expected->address, out.tlp_fields.address);
      compare("tlp.bytes", expected->bytes, out.tlp_fields.bytes);
      compare("tlp.last", expected->last, out.tlp_fields.last);
    }
  }
  void report(const char* stream, const std::optional<std::uint32_t>& expected, std::uint32_t job) {
    if (!expected) {
      mismatch(stream, "none", fmt::format("job {}", job));
      return;
    }
    compare(stream[0] == 'o' ? "ordered.job" : "loose.job", *expected, job);
    free_jobs_.push_back(job);
    const auto it = std::find(job_order_.begin(), job_order_.end(), job);
    if (it != job_order_.begin()) ++result_.bins["read passes an older one"];
    if (it != job_order_.end()) job_order_.erase(it);
    to_release_ += bytes_of_[job];
  }
  /// What was taken in at the edge before and stands in the first stage now.
  void apply_completion() {
    compare("verdict_valid", last_completion_.has_value(), model_->verdict_valid_o);
    if (last_completion_) {
      const ReadTags::Verdict expected = reference_->completion(*last_completion_);
      compare("verdict_tag", last_completion_->tag, model_->verdict_tag_o);
      compare("verdict", expected, model_->verdict_o);
      constexpr std::array names{"verdict unexpected", "verdict behind a loss", "verdict accepted", "verdict complete"};
      ++result_.bins[names[static_cast<std::size_t>(expected)]];
      if (expected == ReadTags::Verdict::complete) {
        std::erase_if(asked_, [&](const Asked& asked) { return asked.request.tag == last_completion_->tag; });
      }
    }
    if (last_expiry_) reference_->expire(*last_expiry_);
  }
  void take_inputs() {
    const auto completion_before = last_completion_;
    last_completion_.reset();
    last_expiry_.reset();
    if (model_->cpl_valid_i != 0) {
      last_completion_ = CompletionTlp{static_cast<std::uint16_t>(model_->cpl_tag_i), model_->cpl_bytes_i,
                                       model_->cpl_byte_count_i, model_->cpl_poisoned_i != 0};
      ++result_.transactions;
      if (completion_before) {
        if (completion_before->tag == last_completion_->tag) ++result_.bins["completions back to back, one tag"];
        if (reference_->tag(completion_before->tag).job == reference_->tag(last_completion_->tag).job &&
            completion_before->tag != last_completion_->tag) {
          ++result_.bins["completions back to back, one read"];
        }
      }
    }
    if (model_->expire_valid_i != 0 && model_->expire_ready_o == 0) ++result_.bins["expiry waits for completion"];
    if (model_->expire_valid_i != 0 && model_->expire_ready_o != 0) {
      last_expiry_ = static_cast<std::uint16_t>(model_->expire_tag_i);
      ++result_.bins["expired"];
      ++result_.transactions;
      expiry_taken_ = true;
    }
    if (model_->release_valid_i != 0) {
      to_release_ -= model_->release_bytes_i;
      reference_->release(model_->release_bytes_i);
    }
    if (model_->rd_valid_i != 0 && model_->rd_ready_o != 0) take_read();
    if (model_->wr_valid_i != 0 && model_->wr_ready_o != 0) take_write();
  }
  void take_read() {
    reference_->read(model_->rd_job_i, model_->rd_address_i, model_->rd_bytes_i, model_->rd_in_order_i != 0);
    job_order_.push_back(model_->rd_job_i);
    bytes_of_[model_->rd_job_i] = model_->rd_bytes_i;
    ++result_.transactions;
    const std::uint64_t end = model_->rd_address_i + model_->rd_bytes_i - 1;
    ++result_.bins[model_->rd_address_i / mrrs_ == end / mrrs_ ? "read inside a block" : "read over a block boundary"];
    if (model_->rd_address_i / 4096 != end / 4096) ++result_.bins["read over 4 KiB"];
    if (model_->rd_bytes_i == 1) ++result_.bins["read of 1 byte"];
    read_taken_ = true;
  }
  void take_write() {
    reference_->write(model_->wr_address_i, model_->wr_bytes_i);
    ++result_.transactions;
    const std::uint64_t end = model_->wr_address_i + model_->wr_bytes_i - 1;
    ++result_.bins[model_->wr_address_i / mps_ == end / mps_ ? "write of one TLP" : "write of many TLPs"];
    if (model_->wr_address_i / 4096 != end / 4096) ++result_.bins["write over 4 KiB"];
    write_taken_ = true;
  }
  void count_bins(const Outputs& out, const std::optional<ReadRequestTlp>& formed) {
    if (model_->stall_tags_o != 0) ++result_.bins["no tag free"];
    if (model_->stall_buffer_o != 0) ++result_.bins["buffer full"];
    if (reference_->buffer_used() == sizes_.completion_buffer_bytes) ++result_.bins["buffer filled to the byte"];
    if (formed && formed->again) ++result_.bins["request again"];
    if (out.request && model_->req_ready_i == 0) ++result_.bins["request waits for ready"];
    if (out.ordered && model_->ordered_ready_i == 0) ++result_.bins["report waits for ready"];
    if (out.loose && model_->loose_ready_i == 0) ++result_.bins["loose report waits for ready"];
    if (out.tlp && model_->tlp_ready_i == 0) ++result_.bins["write TLP waits for ready"];
    if (formed && model_->cpl_valid_i != 0 && out.tlp) ++result_.bins["request, completion and write TLP in one cycle"];
    if (formed && model_->release_valid_i != 0) ++result_.bins["release and request in one cycle"];
    if (!out.ordered && out.loose) ++result_.bins["in-order report waits for an older read"];
  }
  void withdraw_taken() {
    if (read_taken_) model_->rd_valid_i = 0;
    if (write_taken_) model_->wr_valid_i = 0;
    if (expiry_taken_) model_->expire_valid_i = 0;
    read_taken_ = write_taken_ = expiry_taken_ = false;
  }

  PcieDmaSizes sizes_;
  KeyedRandom random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  PcieDmaBenchResult result_;
  Load load_;
  std::uint32_t mrrs_ = 128;
  std::uint32_t mps_ = 128;
  std::optional<PcieDmaReference> reference_;
  std::vector<Asked> asked_;
  std::size_t last_pick_ = 0;
  std::vector<std::uint32_t> free_jobs_;
  std::deque<std::uint32_t> job_order_;
  std::map<std::uint32_t, std::uint32_t> bytes_of_;
  std::uint64_t to_release_ = 0;
  std::optional<CompletionTlp> last_completion_;
  std::optional<std::uint16_t> last_expiry_;
  struct Stable {
    Outputs out;
    bool request, ordered, loose, tlp;
  };
  std::optional<Stable> stable_;
  bool read_taken_ = false, write_taken_ = false, expiry_taken_ = false;
};

}  // namespace mrc
