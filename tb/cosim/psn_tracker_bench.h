// Drives every port of a Verilated psn_tracker_flat at random, cycle by cycle, and compares all that it puts out with
// PsnTrackerReference: every field of every reply, the banks in use, in which cycle requests are taken and replies
// stand there, and that no reply is taken back. Included only where a Verilated class is at hand.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <verilated.h>

#include "cosim/psn_tracker_pins.h"
#include "mrc/random.h"
#include "nic/rx/psn_tracker_reference.h"

namespace mrc {

struct PsnTrackerBenchResult {
  std::uint64_t transactions = 0;  ///< requests that the block took
  std::uint64_t cycles = 0;
  std::uint64_t mismatches = 0;
  std::string first_mismatch;                 ///< cycle, request, field, both values
  std::map<std::string, std::uint64_t> bins;  ///< functional coverage
};

template <typename Model>
class PsnTrackerBench {
 public:
  PsnTrackerBench(const PsnTrackerSizes& sizes, std::uint64_t seed)
      : sizes_(sizes), random_(seed, "psn_tracker.bench"), context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed % 1'000'000 + 1));
    model_ = std::make_unique<Model>(context_.get());
    for (const char* bin : kBins) result_.bins[bin] = 0;
  }
  ~PsnTrackerBench() { model_->final(); }

  /// Until the block has taken so many requests, or something differs.
  PsnTrackerBenchResult run(std::uint64_t transactions) {
    while (result_.transactions < transactions && result_.mismatches == 0) {
      reset();
      const std::uint64_t most = result_.transactions + 4ULL * sizes_.qps + random_.below(20'000);
      while (result_.transactions < std::min(most, transactions) && result_.mismatches == 0) {
        if (load_cycles_-- == 0) choose_load();
        cycle(true);
      }
      if (random_.chance(0.5)) drain();
      ++result_.bins[expected_.empty() ? "reset when idle" : "reset with requests under way"];
    }
    return result_;
  }

 private:
  static constexpr std::array kBins{"reset with requests under way",
                                    "reset when idle",
                                    "out of window: NACK",
                                    "out of window: dropped",
                                    "data accepted",
                                    "data duplicate below",
                                    "data duplicate above",
                                    "data out of window",
                                    "data without a bank",
                                    "trimmed missing",
                                    "trimmed duplicate below",
                                    "trimmed duplicate above",
                                    "trimmed out of window",
                                    "trimmed without a bank",
                                    "trimmed at the last hop",
                                    "NACK not allowed",
                                    "NACK no packet buffer",
                                    "NACK no resource",
                                    "NACK no receive",
                                    "first PSN outside the window",
                                    "last PSN of the window",
                                    "PSN half a circle away",
                                    "window over the end of the circle",
                                    "edge stays in its bank",
                                    "edge into the next bank",
                                    "edge through every bank of the window",
                                    "edge to the end of a bank, nothing behind",
                                    "edge to the end of a bank, hole behind",
                                    "several messages closed",
                                    "last bank of the pool taken",
                                    "QP with all its banks",
                                    "SACK with nothing above the edge",
                                    "SACK of everything above the edge",
                                    "SACK up to the newest",
                                    "SACK from a marked packet on",
                                    "SACK from an asking packet on",
                                    "SACK of a probe",
                                    "SACK out of two banks",
                                    "SACK with its second bank missing",
                                    "SACK grants less than the window",
                                    "SACK grants the window",
                                    "packet in a shortened window refused",
                                    "release with banks",
                                    "release without banks",
                                    "one QP back to back",
                                    "two QPs in turn",
                                    "request waits for ready",
                                    "reply waits for ready",
                                    "reply waits behind a reply"};

  struct Expected {
    PsnRequest request;
    PsnReply reply;
    std::uint32_t banks_in_use = 0;
  };
  struct Load {
    double request = 0.9, reply_ready = 0.9, edge = 0.3, newest = 0.3, sack = 0.2, fault = 0.02, ends = 0.3, hot = 0.9,
           skip = 0.05;
  };

  void choose_load() {
    constexpr std::array<double, 5> shares{0.02, 0.1, 0.5, 0.9, 1.0};
    const auto draw = [&] { return shares[random_.below(shares.size())]; };
    load_ = {draw(), draw(), draw() * 0.5, draw(), draw() * 0.4, random_.chance(0.5) ? 0.0 : 0.05,
             draw(), draw(), 0.05};
    load_cycles_ = random_.below(400);
    hot_qps_ = 1U << random_.below(4);
    hot_qps_ = std::min(hot_qps_, sizes_.qps);
    if (random_.chance(0.1)) deepen();
    if (random_.chance(0.1)) scatter();
    first_hot_ = static_cast<std::uint32_t>(random_.below(sizes_.qps - hot_qps_ + 1));
  }

  /// One QP whose whole window waits for its first packet.
  void deepen() {
    load_ = {1, 1, 1.0 / (sizes_.mpr_units * kMprUnitPsns), 1, 0.01, 0, 0.1, 1, 0};
    hot_qps_ = 1;
    load_cycles_ = 8 * sizes_.mpr_units * kMprUnitPsns;
  }
  /// Holes in all QPs, until the pool is empty.
  void scatter() {
    load_ = {1, 0.9, 0.02, 0, 0.05, 0, 0.1, 0.02, 0};
    load_cycles_ = 3 * sizes_.qps;
  }

  void reset() {
    settings_ = {random_.chance(0.5) ? OutOfWindow::nack : OutOfWindow::drop, random_.chance(0.4)};
    reference_.emplace(sizes_, settings_);
    expected_.clear();
    last_qps_ = {};
    pipeline_ = {};
    put_settings(*model_, settings_);
    model_->req_valid_i = 0;
    model_->rsp_ready_i = 0;
    model_->rst_ni = 0;
    for (std::uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i) edge();
    model_->rst_ni = 1;
    choose_load();
    if (++resets_ % 2 == 0) {
      scatter();
    } else {
      deepen();
    }
  }
  void drain() {
    load_.reply_ready = 1;
    for (int i = 0; i < 200 && result_.mismatches == 0; ++i) cycle(false);
    if (!expected_.empty()) mismatch("drain", 0, expected_.size());
  }

  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++result_.cycles;
  }

  void mismatch(const char* field, std::uint64_t expected, std::uint64_t actual) {
    if (result_.mismatches++ > 0) return;
    const PsnRequest request = expected_.empty() ? PsnRequest{} : expected_.front().request;
    result_.first_mismatch =
        fmt::format("cycle {}, request (op {}, QP {}, PSN {}): {}: expected {:#x}, RTL gave {:#x}", result_.cycles,
                    static_cast<int>(request.op), request.qp, request.psn, field, expected, actual);
  }
  void compare(const char* field, std::uint64_t expected, std::uint64_t actual) {
    if (expected != actual) mismatch(field, expected, actual);
  }
  void compare(const PsnReply& expected, const PsnReply& actual) {
    std::array<std::uint64_t, 16> values{};
    std::size_t count = 0;
    actual.fields([&](const char*, std::uint64_t value) { values[count++] = value; });
    std::size_t i = 0;
    expected.fields([&](const char* name, std::uint64_t value) { compare(name, value, values[i++]); });
  }

  // Stimulus. An offer stays until it is taken.
  void offer_request() {
    if (model_->req_valid_i != 0 || !random_.chance(load_.request)) return;
    offered_ = {};
    offered_.qp = static_cast<std::uint32_t>(random_.chance(load_.hot) ? first_hot_ + random_.below(hot_qps_)
                                                                       : random_.below(sizes_.qps));
    if (!reference_->is_set_up(offered_.qp)) {
      offered_.op = PsnOp::setup;
      offered_.psn = static_cast<Psn>(random_.chance(0.5) ? random_.next() : 0 - random_.below(1'000)) & kPsnMask;
    } else if (random_.chance(0.0002)) {
      offered_.op = PsnOp::release;
    } else if (random_.chance(load_.sack)) {
      choose_sack(reference_->tracker(offered_.qp));
    } else {
      choose_packet(reference_->tracker(offered_.qp));
    }
    put_request(*model_, offered_);
    model_->req_valid_i = 1;
  }
  void choose_packet(const PsnTracker& tracker) {
    const double kind = random_.uniform();
    offered_.op = kind < 0.9 ? PsnOp::data : kind < 0.95 ? PsnOp::trimmed : PsnOp::trimmed_lasthop;
    offered_.psn = choose_psn(tracker);
    offered_.ends_message = random_.chance(load_.ends);
    offered_.conditions = {.allowed = !random_.chance(load_.fault),
                           .packet_buffer = !random_.chance(load_.fault),
                           .other_resource = !random_.chance(load_.fault),
                           .receive = !random_.chance(load_.fault)};
  }
  void choose_sack(const PsnTracker& tracker) {
    offered_.op = PsnOp::sack;
    offered_.psn = choose_psn(tracker);
    offered_.ce = random_.chance(0.3);
    offered_.ack_request = random_.chance(0.3);
    offered_.probe = random_.chance(0.2);
    offered_.probe_id = static_cast<std::uint16_t>(random_.next());
  }
  Psn choose_psn(const PsnTracker& tracker) {
    const Psn next = tracker.expected_psn();
    if (random_.chance(load_.edge)) return next;
    if (random_.chance(load_.newest)) {
      const bool leaves_hole = tracker.ooo_count() == 0 || random_.chance(load_.skip);
      return psn_add(tracker.highest_psn(), leaves_hole ? 2 : 1);
    }
    const std::uint32_t window = tracker.window_psns();
    switch (random_.below(16)) {
      case 0:
        return psn_add(next, -1 - static_cast<std::int64_t>(random_.below(random_.chance(0.5) ? 3 : 2 * window)));
      case 1:
        return psn_add(next, static_cast<std::int64_t>(window) - 2 + static_cast<std::int64_t>(random_.below(4)));
      case 2:
        return psn_add(next, window + random_.below(2 * window));
      case 3:
        return psn_add(next, (1 << 23) - 2 + static_cast<std::int64_t>(random_.below(4)));
      case 4:
        return static_cast<Psn>(random_.next()) & kPsnMask;
      case 5:
        return psn_add(next | (PsnTracker::kBankPsns - 1), static_cast<std::int64_t>(random_.below(3)));
      case 6:
        return tracker.highest_psn();
      case 7:
      case 8:
      case 9:
      case 10:
        return psn_add(next, static_cast<std::int64_t>(random_.below(8)));
      default:
        return psn_add(next, static_cast<std::int64_t>(random_.below(window)));
    }
  }

  /// When requests are taken and replies come, from how many banks each request looks at.
  struct Pipeline {
    bool first = false, second = false;
    std::uint32_t first_left = 0, second_left = 0;
    bool reply = false;

    bool done(bool out_free) const { return second && second_left == 1 && out_free; }
    bool moves(bool out_free) const { return first && (!second || done(out_free)); }
    bool ready(bool out_free) const { return !first || moves(out_free); }
    void edge(bool out_free, std::optional<std::uint32_t> taken) {
      const bool ends = done(out_free);
      const bool move = moves(out_free);
      if (out_free) reply = ends;
      if (second && !ends && second_left > 1) --second_left;
      if (move) {
        second_left = first_left;
        second = true;
      } else if (ends) {
        second = false;
      }
      first = taken || (first && !move);
      if (taken) first_left = *taken;
    }
  };

  void cycle(bool new_work) {
    if (new_work) offer_request();
    model_->rsp_ready_i = random_.chance(load_.reply_ready) ? 1 : 0;
    model_->clk_i = 0;
    model_->eval();

    const bool reply = model_->rsp_valid_o != 0;
    compare("reply", pipeline_.reply, reply);
    if (reply && expected_.empty()) mismatch("reply", 0, 1);
    if (reply && !expected_.empty()) check_reply();
    const bool out_free = !reply || model_->rsp_ready_i != 0;
    compare("req_ready", pipeline_.ready(out_free), model_->req_ready_o);
    if (model_->req_valid_i != 0 && model_->req_ready_o == 0) ++result_.bins["request waits for ready"];
    if (pipeline_.second && pipeline_.second_left == 1 && !out_free) ++result_.bins["reply waits behind a reply"];

    if (reply && model_->rsp_ready_i != 0 && !expected_.empty()) expected_.pop_front();
    const bool taken = model_->req_valid_i != 0 && model_->req_ready_o != 0;
    if (taken) take_request();
    const std::optional<std::uint32_t> visits =
        taken ? std::optional<std::uint32_t>(reference_->banks_visited()) : std::nullopt;
    pipeline_.edge(out_free, visits);
    new_reply_ = out_free;
    edge();
    if (taken) model_->req_valid_i = 0;
  }
  /// In every cycle, so that a reply that changes while it waits is seen.
  void check_reply() {
    compare(expected_.front().reply, reply_of(*model_));
    // Later requests may have moved banks by the second cycle.
    if (new_reply_) compare("banks_in_use", expected_.front().banks_in_use, model_->banks_in_use_o);
    if (model_->rsp_ready_i == 0) ++result_.bins["reply waits for ready"];
  }
  void take_request() {
    std::optional<PsnTracker> before;
    if (offered_.op != PsnOp::setup) before = reference_->tracker(offered_.qp);
    const std::uint32_t banks_before = reference_->pool().in_use();
    const PsnReply reply = reference_->run(offered_);
    expected_.push_back({offered_, reply, reference_->pool().in_use()});
    ++result_.transactions;
    count_bins(before, banks_before, reply);
    if (offered_.op == PsnOp::release) reference_->forget(offered_.qp);
    last_qps_ = {offered_.qp, last_qps_[0]};
  }

  // Functional coverage.
  void hit(bool happened, const char* bin) {
    if (happened) ++result_.bins[bin];
  }
  void count_bins(const std::optional<PsnTracker>& before, std::uint32_t banks_before, const PsnReply& reply) {
    hit(offered_.qp == last_qps_[0], "one QP back to back");
    hit(offered_.qp != last_qps_[0] && offered_.qp == last_qps_[1], "two QPs in turn");
    if (offered_.op == PsnOp::sack) count_sack(*before, reply);
    if (offered_.op == PsnOp::release) {
      hit(true, before->banks_held() > 0 ? "release with banks" : "release without banks");
    }
    const bool trimmed = offered_.op == PsnOp::trimmed || offered_.op == PsnOp::trimmed_lasthop;
    if (offered_.op != PsnOp::data && !trimmed) return;
    const auto outcome = static_cast<std::size_t>(reply.verdict.outcome);
    constexpr std::array data_bins{"data accepted", "data duplicate below", "data duplicate above",
                                   "data out of window", "data without a bank"};
    constexpr std::array trimmed_bins{"trimmed missing", "trimmed duplicate below", "trimmed duplicate above",
                                      "trimmed out of window", "trimmed without a bank"};
    hit(true, trimmed ? trimmed_bins[outcome] : data_bins[outcome]);
    hit(reply.verdict.nack == NackReason::trimmed_lasthop, "trimmed at the last hop");
    const std::int32_t ahead = psn_distance(offered_.psn, before->expected_psn());
    const auto window = static_cast<std::int32_t>(before->window_psns());
    hit(ahead == window, "first PSN outside the window");
    hit(ahead == window - 1, "last PSN of the window");
    hit(ahead == -(1 << 23) || ahead == (1 << 23) - 1, "PSN half a circle away");
    hit(psn_add(before->expected_psn(), window) < before->expected_psn(), "window over the end of the circle");
    if (trimmed) return;
    if (reply.verdict.outcome == PsnOutcome::out_of_window) {
      const bool nack = settings_.out_of_window == OutOfWindow::nack;
      hit(true, nack ? "out of window: NACK" : "out of window: dropped");
      hit(ahead < static_cast<std::int32_t>(sizes_.mpr_units * kMprUnitPsns), "packet in a shortened window refused");
    }
    if (reply.verdict.outcome == PsnOutcome::accept) count_accepted(*before, banks_before, reply);
  }
  void count_accepted(const PsnTracker& before, std::uint32_t banks_before, const PsnReply& reply) {
    const NackReason nack = reply.verdict.nack;
    hit(nack == NackReason::unexp_event && !offered_.conditions.allowed, "NACK not allowed");
    hit(nack == NackReason::unexp_event && offered_.conditions.allowed, "NACK no receive");
    hit(nack == NackReason::no_pkt_buffer, "NACK no packet buffer");
    hit(nack == NackReason::no_resource, "NACK no resource");
    if (!reply.verdict.place) return;
    const PsnTracker& after = reference_->tracker(offered_.qp);
    hit(reply.closes > 1, "several messages closed");
    hit(after.banks_held() == sizes_.mpr_units + 1, "QP with all its banks");
    hit(reference_->pool().in_use() == sizes_.banks && banks_before < sizes_.banks, "last bank of the pool taken");
    if (offered_.psn != before.expected_psn()) return;
    const std::uint32_t visited = reference_->banks_visited();
    hit(visited == 1, "edge stays in its bank");
    hit(visited == 2, "edge into the next bank");
    hit(visited > sizes_.mpr_units, "edge through every bank of the window");
    const bool at_end = after.expected_psn() % PsnTracker::kBankPsns == 0;
    hit(at_end && after.ooo_count() == 0, "edge to the end of a bank, nothing behind");
    hit(at_end && after.ooo_count() > 0, "edge to the end of a bank, hole behind");
  }
  void count_sack(const PsnTracker& before, const PsnReply& reply) {
    const Psn base = psn_add(reply.cack, reply.sack_offset);
    const std::int32_t span = psn_distance(before.highest_psn(), before.expected_psn());
    hit(before.ooo_count() == 0, "SACK with nothing above the edge");
    hit(before.ooo_count() > 0 && span < 64, "SACK of everything above the edge");
    const bool own = span >= 64 && base == offered_.psn && base != psn_add(before.highest_psn(), -63);
    hit(span >= 64 && base == psn_add(before.highest_psn(), -63), "SACK up to the newest");
    hit(own && offered_.ce && !offered_.ack_request, "SACK from a marked packet on");
    hit(own && offered_.ack_request && !offered_.ce, "SACK from an asking packet on");
    hit(offered_.probe, "SACK of a probe");
    const std::uint32_t visited = reference_->banks_visited();
    hit(visited == 2, "SACK out of two banks");
    hit(visited == 1 && before.ooo_count() > 0 && base % PsnTracker::kBankPsns > 64,
        "SACK with its second bank missing");
    hit(settings_.dynamic_mpr && reply.mpr < sizes_.mpr_units, "SACK grants less than the window");
    hit(settings_.dynamic_mpr && reply.mpr == sizes_.mpr_units, "SACK grants the window");
  }

  PsnTrackerSizes sizes_;
  KeyedRandom random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  PsnTrackerBenchResult result_;
  Load load_;
  std::uint64_t load_cycles_ = 0;  ///< left of it
  std::uint64_t resets_ = 0;
  std::uint32_t hot_qps_ = 1;
  std::uint32_t first_hot_ = 0;
  PsnTrackerSettings settings_;
  std::optional<PsnTrackerReference> reference_;
  PsnRequest offered_;
  std::deque<Expected> expected_;
  std::array<std::uint32_t, 2> last_qps_{};
  Pipeline pipeline_;
  bool new_reply_ = true;  ///< what stands at the output came there with the edge before
};

}  // namespace mrc
