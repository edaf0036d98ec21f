#include "nic/tx/retransmit_buffer_rtl_path.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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

const RetransmitReply& RetransmitBufferRtlPath::run(const RetransmitCommand& command) {
  reply_ = &engine_->run(command);
  // Commands on one record are taken in every cycle, the others have the block until their response.
  const bool one_record = command.op == RetransmitOp::open || command.op == RetransmitOp::append ||
                          command.op == RetransmitOp::sent || command.op == RetransmitOp::nack;
  const std::uint64_t cycles = engine_->last_cycles();
  if (unacked_.size() <= command.qp) unacked_.resize(command.qp + 1);
  const std::uint64_t scan = sack_scan_cycles(unacked_[command.qp], reply_->unacked, command.bitmap);
  unacked_[command.qp] = reply_->unacked;
  count({one_record ? 1 : cycles - 1, cycles}, retransmit_cycles(nic_, command.op, scan));
  return *reply_;
}

void RetransmitBufferRtlPath::compare(const RetransmitCommand& command, RetransmitReply& expected) {
  if (command.op == RetransmitOp::append) --free_;
  if (command.op == RetransmitOp::ack) free_ += expected.count;
  expected.free = free_;
  const std::string text = difference(expected, *reply_);
  if (text.empty()) return;
  const auto what = [&] {
    return fmt::format("transaction {} ({} of QP {}, PSN {})", transactions(), to_string(command.op), command.qp,
                       command.psn);
  };
  mismatch(node_, command.now / clock_period_ps_, what, text);
}

}  // namespace mrc
