#include "nic/tx/retransmit_buffer_rtl_path.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/first_difference.h"
#include "nic/tx/retransmit_cycles.h"

namespace mrc {
namespace {

std::string_view to_string(RetransmitOp op) {
  constexpr std::array<std::string_view, 8> names{"open", "append", "sent", "ack", "nack", "gap", "timeout", "take"};
  return names[static_cast<std::size_t>(op)];
}

std::string difference(const RetransmitReply& expected, const RetransmitReply& actual) {
  FirstDifference first;
  for (std::size_t i = 0; i < std::min(expected.events.size(), actual.events.size()); ++i) {
    const RetransmitEvent& left = expected.events[i];
    const RetransmitEvent& right = actual.events[i];
    first.note("event.psn", left.psn, right.psn);
    first.note("event.lost", left.lost, right.lost);
    first.note("event.was_lost", left.was_lost, right.was_lost);
    first.note("event.bytes", left.bytes, right.bytes);
    first.note("event.ev", left.ev, right.ev);
  }
  first.note("events", expected.events.size(), actual.events.size());
  first.note_fields(expected, actual);
  return first.text();
}

}  // namespace

RtlCycles RetransmitBufferRtlPath::systemc_cycles(const RetransmitCommand& command, const RetransmitReply& reply) {
  if (unacked_.size() <= command.qp) unacked_.resize(command.qp + 1);
  const std::uint64_t scan = sack_scan_cycles(unacked_[command.qp], reply.unacked, command.bitmap);
  unacked_[command.qp] = reply.unacked;
  return retransmit_cycles(nic_, command.op, scan);
}

const RetransmitReply& RetransmitBufferRtlPath::run(const RetransmitCommand& command) {
  reply_ = &engine_->run(command);
  // Commands on one record are taken in every cycle, the others have the block until their response.
  const bool one_record = command.op == RetransmitOp::open || command.op == RetransmitOp::append ||
                          command.op == RetransmitOp::sent || command.op == RetransmitOp::nack;
  const std::uint64_t cycles = engine_->last_cycles();
  const RtlCycles systemc = systemc_cycles(command, *reply_);
  if (!by_pins()) count({one_record ? 1 : cycles - 1, cycles}, systemc);
  return *reply_;
}

void RetransmitBufferRtlPath::judge(const RetransmitCommand& command, const RetransmitReply& expected,
                                    const RetransmitReply& reply, std::uint64_t cycle) {
  const std::string text = difference(expected, reply);
  if (text.empty()) return;
  const auto what = [&] {
    return fmt::format("transaction {} ({} of QP {}, PSN {})", transactions(), to_string(command.op), command.qp,
                       command.psn);
  };
  mismatch(node_, cycle, what, text);
}

void RetransmitBufferRtlPath::compare(const RetransmitCommand& command, RetransmitReply& expected) {
  if (command.op == RetransmitOp::append) --free_;
  if (command.op == RetransmitOp::ack) free_ += expected.count;
  expected.free = free_;
  if (!by_pins() || (command.op == RetransmitOp::open && !is_clocked_)) {
    judge(command, expected, *reply_, command.now / clock_period_ps_);
    return;
  }
  const Maker maker = maker_of(command.op);
  ++waiting_[maker];
  if (maker == kJudge) ++judging_;
  commands_.push_back({command, expected, systemc_cycles(command, expected)});
  // A QP that fails has no time: whoever lets it fail then releases its records.
  if (command.now > 0) box_->wake_at(command.now);
}

RetransmitBufferRtlPath::Maker RetransmitBufferRtlPath::maker_of(RetransmitOp op) {
  if (op == RetransmitOp::append || op == RetransmitOp::take) return kCut;
  return op == RetransmitOp::sent ? kSent : kJudge;
}

PinCycle RetransmitBufferRtlPath::clock(std::uint64_t cycle) {
  if (pins_.is_free() && !commands_.empty()) {
    pins_.offer(std::move(commands_.front()));
    commands_.pop_front();
  }
  is_clocked_ = true;
  const PinCycle pins = pins_.clock(cycle);
  if (pins_.was_occupied()) count_occupied();
  if (pins.begun) --waiting_[maker_of(begun())];
  return pins;
}

RetransmitOp RetransmitBufferRtlPath::conclude(std::uint64_t cycle) {
  const RetransmitAsk& ask = pins_.oldest();
  const RetransmitOp op = ask.op;
  count({0, pins_.age_of_oldest(cycle)}, ask.systemc);
  judge(ask, ask.expected, engine_->answer(), cycle);
  if (maker_of(op) == kJudge) --judging_;
  pins_.drop_oldest();
  return op;
}

}  // namespace mrc
