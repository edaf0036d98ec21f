#include "nic/tx/retransmit_reply_difference.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrc {
namespace {

class Difference {
 public:
  void note(const std::string& field, std::uint64_t expected, std::uint64_t actual) {
    if (expected == actual || !text_.empty()) return;
    text_ = fmt::format("{}: expected {:#x}, RTL gave {:#x}", field, expected, actual);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string difference(const RetransmitReply& expected, const RetransmitReply& actual) {
  Difference d;
  for (std::size_t i = 0; i < std::min(expected.events.size(), actual.events.size()); ++i) {
    const RetransmitEvent& left = expected.events[i];
    const RetransmitEvent& right = actual.events[i];
    d.note("event.psn", left.psn, right.psn);
    d.note("event.lost", left.lost, right.lost);
    d.note("event.was_lost", left.was_lost, right.was_lost);
    d.note("event.bytes", left.bytes, right.bytes);
    d.note("event.ev", left.ev, right.ev);
  }
  d.note("events", expected.events.size(), actual.events.size());
  d.note("hit", expected.hit, actual.hit);
  d.note("count", expected.count, actual.count);
  d.note("advanced", expected.advanced, actual.advanced);
  d.note("psn", expected.psn, actual.psn);
  d.note("message", expected.message, actual.message);
  d.note("offset", expected.offset, actual.offset);
  d.note("bytes", expected.bytes, actual.bytes);
  d.note("cause", static_cast<std::uint64_t>(expected.cause), static_cast<std::uint64_t>(actual.cause));
  d.note("unacked", expected.unacked, actual.unacked);
  d.note("next", expected.next, actual.next);
  d.note("has_lost", expected.has_lost, actual.has_lost);
  d.note("oldest_lost", expected.oldest_lost, actual.oldest_lost);
  d.note("outstanding", expected.outstanding, actual.outstanding);
  d.note("oldest_psn", expected.oldest_psn, actual.oldest_psn);
  d.note("oldest_sent", expected.oldest_sent, actual.oldest_sent);
  d.note("free", expected.free, actual.free);
  return d.text();
}

}  // namespace mrc
