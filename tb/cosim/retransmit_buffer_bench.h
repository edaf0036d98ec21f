// Random commands to a Verilated retransmit_buffer_flat with back-pressure on its events and responses, each compared
// with RetransmitReference: every event, every field of the response, and that nothing offered is taken back. Included
// only where a Verilated class is at hand.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <verilated.h>

#include "cosim/retransmit_buffer_pins.h"
#include "mrc/random.h"
#include "mrc/tx/retransmit_reference.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "nic/tx/retransmit_reply_difference.h"

namespace mrc {

struct RetransmitBenchResult {
  std::uint64_t transactions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t mismatches = 0;
  std::string first_mismatch;                 ///< command, cycle, field, both values
  std::map<std::string, std::uint64_t> bins;  ///< functional coverage
};

template <typename Model>
class RetransmitBufferBench {
 public:
  RetransmitBufferBench(const RetransmitBufferSizes& sizes, std::uint64_t seed)
      : sizes_(sizes), random_(seed, "retransmit_buffer.bench"), context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed % 1'000'000 + 1));
    model_ = std::make_unique<Model>(context_.get());
    for (const char* bin : kBins) result_.bins[bin] = 0;
  }
  ~RetransmitBufferBench() { model_->final(); }

  RetransmitBenchResult run(std::uint64_t commands) {
    while (result_.transactions < commands && result_.mismatches == 0) {
      reset();
      const std::uint64_t most = std::min(commands, result_.transactions + 1'000 + random_.below(60'000));
      while (result_.transactions < most && result_.mismatches == 0) {
        if (random_.chance(0.001)) choose_load();
        command();
      }
      if (random_.chance(0.7)) reset_under_way();
    }
    return result_;
  }

 private:
  static constexpr std::array kBins{"open",
                                    "append",
                                    "append, pool empty",
                                    "append, window wraps 2^24",
                                    "sent",
                                    "sent again",
                                    "sent, gone",
                                    "ack, nothing",
                                    "ack, cumulative",
                                    "ack, bitmap only",
                                    "ack, both",
                                    "ack behind the old end",
                                    "ack beyond the new end",
                                    "bitmap across the old end",
                                    "bitmap across the new end",
                                    "bitmap full",
                                    "ack of a lost packet",
                                    "ack of the oldest lost, another behind it",
                                    "ack of a packet in the pipeline",
                                    "old end jumps over acknowledged",
                                    "all acknowledged",
                                    "nack, lost",
                                    "nack, not outstanding",
                                    "nack older than the oldest lost",
                                    "gap, none",
                                    "gap, one",
                                    "gap, many",
                                    "timeout, none",
                                    "timeout, one",
                                    "timeout, many",
                                    "take, none",
                                    "take, the last",
                                    "take, another behind it",
                                    "event waits for ready",
                                    "response waits for ready",
                                    "reset with a command under way",
                                    "QP never opened"};
  struct Load {
    double append = 0.3, sent = 0.3, event_ready = 0.9, response_ready = 0.9, gap = 0.1;
    std::uint64_t window = 40;
  };

  void choose_load() {
    constexpr std::array<double, 4> shares{0.1, 0.5, 0.9, 1.0};
    load_.append = 0.15 + 0.3 * random_.uniform();
    load_.sent = 0.15 + 0.3 * random_.uniform();
    load_.event_ready = shares[random_.below(4)];
    load_.response_ready = shares[random_.below(4)];
    load_.gap = random_.chance(0.5) ? 0 : 0.5;
    load_.window = 1 + random_.below(random_.chance(0.3) ? 200 : 40);
    // Some QPs at a time, so that each has packets.
    active_ = 1 + random_.below(random_.chance(0.5) ? 2 : std::min<std::uint64_t>(sizes_.qps, 64));
  }
  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++result_.cycles;
  }
  void reset() {
    model_->cmd_valid_i = 0;
    model_->rst_ni = 0;
    for (std::uint64_t i = 0, n = 1 + random_.below(3); i < n; ++i) edge();
    model_->rst_ni = 1;
    reference_.emplace(sizes_.records);
    pipeline_.clear();
    now_ = random_.below(1'000'000);
    choose_load();
    for (std::uint64_t i = 0; model_->cmd_ready_o == 0 && i < 100'000; ++i) edge();
  }
  void reset_under_way() {
    put_command(*model_, choose());
    model_->evt_ready_i = 0;
    for (std::uint64_t i = 0, n = 1 + random_.below(12); i < n; ++i) edge();
    ++result_.bins["reset with a command under way"];
  }

  std::uint32_t choose_qp() {
    // QPs that share buckets, too.
    const auto qp = static_cast<std::uint32_t>(random_.below(active_));
    return random_.chance(0.5) ? qp : (qp * 2'654'435'761U) % sizes_.qps;
  }
  RetransmitCommand choose() {
    RetransmitCommand c;
    c.qp = choose_qp();
    now_ += random_.below(1'000);
    c.now = now_;
    const RetransmitBuffer* buffer = reference_->find(c.qp);
    if (buffer == nullptr) {
      c.op = RetransmitOp::open;
      c.psn = random_.chance(0.2) ? kPsnMask - static_cast<Psn>(random_.below(50))
                                  : static_cast<Psn>(random_.next() & kPsnMask);
      if (!random_.chance(0.02)) return c;
      c.op = RetransmitOp::sent;
      ++result_.bins["QP never opened"];
      return c;
    }
    const double draw = random_.uniform();
    if (draw < load_.append && buffer->span() < load_.window) return append(c);
    if (draw < load_.append + load_.sent) return sent(c, *buffer);
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return ack(c, *buffer);
      case 3:
        c.op = RetransmitOp::nack;
        c.psn = psn_around(*buffer);
        c.cause = static_cast<CutCause>(1 + random_.below(5));
        return c;
      case 4:
        c.op = RetransmitOp::gap;
        c.threshold = 1 + static_cast<std::uint32_t>(random_.below(12));
        c.cause = CutCause::loss;
        return c;
      case 5:
        c.op = RetransmitOp::timeout;
        c.limit = 1 + random_.below(random_.chance(0.2) ? 20'000 : 200'000);
        c.cause = CutCause::loss;
        return c;
      default:
        c.op = RetransmitOp::take;
        return c;
    }
  }
  RetransmitCommand append(RetransmitCommand c) {
    c.op = RetransmitOp::append;
    c.message = static_cast<std::uint16_t>(random_.next());
    c.offset = static_cast<std::uint32_t>(random_.next());
    c.bytes = static_cast<std::uint16_t>(1 + random_.below(65'535));
    return c;
  }
  /// Mostly of a packet that waits to leave, in any order.
  RetransmitCommand sent(RetransmitCommand c, const RetransmitBuffer& buffer) {
    c.op = RetransmitOp::sent;
    c.psn = psn_around(buffer);
    std::vector<Psn>& waiting = pipeline_[c.qp];
    if (!waiting.empty() && !random_.chance(0.02)) {
      const std::size_t pick = random_.chance(0.8) ? 0 : random_.below(waiting.size());
      c.psn = waiting[pick];
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    c.ev = static_cast<EvIndex>(random_.below(4096));
    return c;
  }
  RetransmitCommand ack(RetransmitCommand c, const RetransmitBuffer& buffer) {
    c.op = RetransmitOp::ack;
    const auto span = static_cast<std::int64_t>(buffer.span());
    std::int64_t last = -1;
    if (random_.chance(0.5))
      last = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(span) / 2 + 1)) - 1;
    if (random_.chance(0.05)) last = span - 1;
    if (random_.chance(0.03)) last = -2 - static_cast<std::int64_t>(random_.below(100));
    if (random_.chance(0.02)) last = span + static_cast<std::int64_t>(random_.below(100));
    c.psn = psn_add(buffer.unacked_psn(), last);
    std::int64_t base = last + 1 + static_cast<std::int64_t>(random_.below(20));
    if (random_.chance(0.1)) base = static_cast<std::int64_t>(random_.below(300)) - 150;
    c.base = psn_add(buffer.unacked_psn(), base);
    c.bitmap = random_.next();
    if (random_.chance(0.3)) c.bitmap &= random_.next() & random_.next();
    if (random_.chance(0.1)) c.bitmap = 0;
    if (random_.chance(0.05)) c.bitmap = ~0ULL;
    return c;
  }
  Psn psn_around(const RetransmitBuffer& buffer) {
    return psn_add(buffer.unacked_psn(), static_cast<std::int64_t>(random_.below(buffer.span() + 4)) - 2);
  }

  void command() {
    const RetransmitCommand c = choose();
    const RetransmitBuffer* before = reference_->find(c.qp);
    const Psn unacked = before == nullptr ? 0 : before->unacked_psn();
    const std::uint32_t span = before == nullptr ? 0 : before->span();
    const Psn oldest_lost = before != nullptr && before->has_lost() ? before->oldest_lost() : unacked;
    const bool had_lost = before != nullptr && before->has_lost();
    const bool in_pipeline =
        before != nullptr && before->contains(unacked) && before->at(unacked).state == RecordState::in_pipeline;
    const bool again = before != nullptr && before->contains(c.psn) && before->at(c.psn).transmissions > 0;
    const RetransmitReply expected = reference_->run(c);
    count_bins(c, expected, unacked, span, had_lost, oldest_lost, in_pipeline, again);
    note_pipeline(c, expected);
    const RetransmitReply actual = drive(c);
    if (result_.mismatches > 0) return;
    const std::string text = difference(expected, actual);
    if (!text.empty()) mismatch(c, text);
    ++result_.transactions;
  }
  void note_pipeline(const RetransmitCommand& c, const RetransmitReply& expected) {
    if ((c.op == RetransmitOp::append || c.op == RetransmitOp::take) && expected.hit) {
      pipeline_[c.qp].push_back(expected.psn);
    } else if (c.op == RetransmitOp::open) {
      pipeline_[c.qp].clear();
    }
  }
  RetransmitReply drive(const RetransmitCommand& c) {
    RetransmitReply reply;
    while (random_.chance(load_.gap)) cycle(nullptr, c, reply);
    put_command(*model_, c);
    bool taken = false;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
      if (cycle(&taken, c, reply)) return reply;
    }
    mismatch(c, "response: expected one, RTL gave none");
    return reply;
  }
  /// True when the response was taken.
  bool cycle(bool* taken, const RetransmitCommand& c, RetransmitReply& reply) {
    model_->evt_ready_i = random_.chance(load_.event_ready) ? 1 : 0;
    model_->rsp_ready_i = random_.chance(load_.response_ready) ? 1 : 0;
    model_->clk_i = 0;
    model_->eval();
    check_stability(c);
    const bool event = model_->evt_valid_o != 0 && model_->evt_ready_i != 0;
    const bool response = model_->rsp_valid_o != 0 && model_->rsp_ready_i != 0;
    if (event) reply.events.push_back(event_of(*model_));
    if (response) take_reply(*model_, c.op, reply);
    held_event_.reset();
    if (model_->evt_valid_o != 0 && !event) {
      held_event_ = event_of(*model_);
      ++result_.bins["event waits for ready"];
    }
    held_response_ = model_->rsp_valid_o != 0 && !response;
    if (held_response_) ++result_.bins["response waits for ready"];
    const bool takes = taken != nullptr && model_->cmd_valid_i != 0 && model_->cmd_ready_o != 0;
    edge();
    if (takes) {
      *taken = true;
      model_->cmd_valid_i = 0;
    }
    if (response && (taken == nullptr || !*taken)) mismatch(c, "response: expected none, RTL gave one");
    return response;
  }
  void check_stability(const RetransmitCommand& c) {
    if (held_event_) {
      const RetransmitEvent now = event_of(*model_);
      if (model_->evt_valid_o == 0 || now.psn != held_event_->psn || now.lost != held_event_->lost ||
          now.bytes != held_event_->bytes || now.ev != held_event_->ev || now.was_lost != held_event_->was_lost) {
        mismatch(c, "event handshake: an event that waited has changed");
      }
    }
    if (held_response_ && model_->rsp_valid_o == 0) mismatch(c, "response handshake: a response that waited is gone");
  }
  void mismatch(const RetransmitCommand& c, const std::string& text) {
    constexpr std::array names{"open", "append", "sent", "ack", "nack", "gap", "timeout", "take"};
    if (result_.mismatches++ > 0) return;
    result_.first_mismatch = fmt::format("command {} ({} of QP {}, PSN {}), cycle {}: {}", result_.transactions,
                                         names[static_cast<std::size_t>(c.op)], c.qp, c.psn, result_.cycles, text);
  }

  void count_bins(const RetransmitCommand& c, const RetransmitReply& e, Psn unacked, std::uint32_t span, bool had_lost,
                  Psn oldest_lost, bool in_pipeline, bool again) {
    const auto hit = [&](const char* bin) { ++result_.bins[bin]; };
    const std::array counts{" none", " one", " many"};
    switch (c.op) {
      case RetransmitOp::open:
        return hit("open");
      case RetransmitOp::append:
        if (e.next < e.unacked && e.next != 0) hit("append, window wraps 2^24");
        return hit(e.hit ? "append" : "append, pool empty");
      case RetransmitOp::sent:
        return hit(!e.hit ? "sent, gone" : again ? "sent again" : "sent");
      case RetransmitOp::ack:
        return count_ack(c, e, unacked, span, had_lost, oldest_lost, in_pipeline);
      case RetransmitOp::nack:
        if (e.hit && had_lost && psn_distance(c.psn, oldest_lost) < 0) hit("nack older than the oldest lost");
        return hit(e.hit ? "nack, lost" : "nack, not outstanding");
      case RetransmitOp::gap:
        ++result_.bins[fmt::format("gap,{}", counts[std::min(e.count, 2U)])];
        return;
      case RetransmitOp::timeout:
        ++result_.bins[fmt::format("timeout,{}", counts[std::min(e.count, 2U)])];
        return;
      case RetransmitOp::take:
        return hit(!e.hit ? "take, none" : e.has_lost ? "take, another behind it" : "take, the last");
    }
  }
  void count_ack(const RetransmitCommand& c, const RetransmitReply& e, Psn unacked, std::uint32_t span, bool had_lost,
                 Psn oldest_lost, bool in_pipeline) {
    const auto hit = [&](const char* bin) { ++result_.bins[bin]; };
    const std::int32_t last = psn_distance(c.psn, unacked);
    const std::int32_t base = psn_distance(c.base, unacked);
    const auto end = static_cast<std::int32_t>(span);
    const bool bits = c.bitmap != 0;
    hit(e.count == 0 ? "ack, nothing" : last < 0 ? "ack, bitmap only" : bits ? "ack, both" : "ack, cumulative");
    if (last < -1) hit("ack behind the old end");
    if (last >= end) hit("ack beyond the new end");
    if (bits && base < 0 && base > -64) hit("bitmap across the old end");
    if (bits && base < end && base + 64 > end) hit("bitmap across the new end");
    if (c.bitmap == ~0ULL) hit("bitmap full");
    for (const RetransmitEvent& event : e.events) {
      if (event.was_lost) hit("ack of a lost packet");
      if (event.was_lost && event.psn == oldest_lost && had_lost && e.has_lost)
        hit("ack of the oldest lost, another behind it");
      if (event.psn == unacked && in_pipeline) hit("ack of a packet in the pipeline");
    }
    if (e.advanced && last < psn_distance(e.unacked, unacked) - 1 && e.unacked != e.next)
      hit("old end jumps over acknowledged");
    if (e.advanced && e.unacked == e.next) hit("all acknowledged");
  }

  RetransmitBufferSizes sizes_;
  KeyedRandom random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  RetransmitBenchResult result_;
  Load load_;
  std::uint64_t active_ = 1;
  TimePs now_ = 0;
  std::optional<RetransmitReference> reference_;
  std::map<std::uint32_t, std::vector<Psn>> pipeline_;  ///< by QP: taken for sending and not sent
  std::optional<RetransmitEvent> held_event_;
  bool held_response_ = false;
};

}  // namespace mrc
