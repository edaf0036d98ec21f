#include "nic/tx/retransmit_buffer_rtl_path.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "nic/tx/retransmit_reply_difference.h"

namespace mrc {
namespace {

std::string_view to_string(RetransmitOp op) {
  constexpr std::array<std::string_view, 8> names{"open", "append", "sent", "ack", "nack", "gap", "timeout", "take"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace

const RetransmitReply& RetransmitBufferRtlPath::run(const RetransmitCommand& command) {
  reply_ = &engine_->run(command);
  // The SystemC boxes charge a command where it arises, a cycle each.
  count({engine_->last_cycles(), engine_->last_cycles()}, {1, 1});
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
