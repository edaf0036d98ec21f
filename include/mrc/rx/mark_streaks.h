// Number of consecutive CE-marked packets per EV, from which a responder marks a path as persistently bad
// (SACK.m = ALWAYS_SKIP; the specification leaves the threshold to the implementation).
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

class MarkStreaks {
 public:
  /// EVs per QP, 8 B each, none while the threshold is 0. An EV replaces another one with the same hash: a streak may
  /// be lost, but is never reported wrongly (size: assumption).
  static constexpr std::uint32_t kEntries = 256;

  /// `threshold` marks in a row, 0 = never.
  explicit MarkStreaks(std::uint32_t threshold) : threshold_(threshold), entries_(threshold == 0 ? 0 : kEntries) {}

  /// A marked packet on `ev`: true if it completes a streak, after which the count of the EV restarts.
  bool marked(Ev ev) {
    if (threshold_ == 0) return false;
    Entry& entry = entry_of(ev);
    if (entry.ev != ev) entry = {ev, 0};
    if (++entry.marks < threshold_) return false;
    entry.marks = 0;
    return true;
  }
  void unmarked(Ev ev) {
    if (threshold_ != 0 && entry_of(ev).ev == ev) entry_of(ev).marks = 0;
  }

 private:
  struct Entry {
    Ev ev = 0;
    std::uint32_t marks = 0;
  };
  Entry& entry_of(Ev ev) { return entries_[mix64(ev) % kEntries]; }

  std::uint32_t threshold_;
  std::vector<Entry> entries_;
};

}  // namespace mrc
