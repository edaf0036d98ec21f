// REPS, recycled entropies (arXiv 2407.21625): an EV that an unmarked acknowledgement names is used once more; without
// one, a random EV is explored. After a loss nothing is explored for a while (freezing): the EVs that were good last
// are used again and again. Sizes and times are those of UEC's reference simulator.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

class RecycledEntropies : public PathPolicy {
 public:
  static constexpr std::uint32_t kEntries = 8;
  static constexpr TimePs kFreezing = 10'000 * kPsPerUs;

  RecycledEntropies(std::uint32_t /*evs*/, KeyedRandom random) : random_(random) {}

  EvIndex pick(const PathChoices& choices, TimePs now) override {
    const bool frozen = now < frozen_until_;
    for (std::uint32_t i = 0; i < held_; ++i) {
      Entry& entry = entries_[(oldest_ + i) % kEntries];
      if ((!entry.fresh && !frozen) || !choices.may_use(entry.ev)) continue;
      const EvIndex ev = entry.ev;
      entry.fresh = false;
      if (frozen) move_to_end(i);
      return ev;
    }
    // No port stays idle for want of an EV that is known to be good.
    return choices.nth(static_cast<std::uint32_t>(random_.below(choices.count())));
  }
  void heard(EvIndex ev, PathEvent event, TimePs now) override {
    if (event == PathEvent::delivered) add(ev);
    if (event == PathEvent::lost && now >= frozen_until_) frozen_until_ = now + kFreezing;
    if (event == PathEvent::ecn || event == PathEvent::trimmed || event == PathEvent::lost) forget(ev);
  }

 private:
  struct Entry {
    EvIndex ev = kNoEv;
    bool fresh = false;  ///< acknowledged and not used since
  };

  /// The newest takes the place of the oldest.
  void add(EvIndex ev) {
    if (held_ == kEntries) {
      entries_[oldest_] = {ev, true};
      oldest_ = (oldest_ + 1) % kEntries;
    } else {
      entries_[(oldest_ + held_++) % kEntries] = {ev, true};
    }
  }
  void forget(EvIndex ev) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < held_; ++i) {
      const Entry entry = entries_[(oldest_ + i) % kEntries];
      if (entry.ev != ev) entries_[(oldest_ + kept++) % kEntries] = entry;
    }
    held_ = kept;
  }
  /// So that frozen EVs have their turns.
  void move_to_end(std::uint32_t place) {
    const Entry entry = entries_[(oldest_ + place) % kEntries];
    for (std::uint32_t i = place; i + 1 < held_; ++i) {
      entries_[(oldest_ + i) % kEntries] = entries_[(oldest_ + i + 1) % kEntries];
    }
    entries_[(oldest_ + held_ - 1) % kEntries] = entry;
  }

  std::array<Entry, kEntries> entries_{};
  std::uint32_t oldest_ = 0;
  std::uint32_t held_ = 0;
  TimePs frozen_until_ = 0;
  KeyedRandom random_;
};

}  // namespace mrc
