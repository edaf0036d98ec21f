#include "nic/tx/retransmit_reply_difference.h"

#include <algorithm>
#include <array>

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
  std::array<std::uint64_t, RetransmitReply::kFields> values{};
  std::size_t at = 0;
  expected.fields([&](const char*, std::uint64_t value) { values.at(at++) = value; });
  at = 0;
  actual.fields([&](const char* name, std::uint64_t value) { d.note(name, values.at(at++), value); });
  return d.text();
}

}  // namespace mrc
