// ECN bitmap, as in UEC's reference simulator: the EVs in turn, each with a penalty that marks, trims and losses raise.
// An EV whose turn it is and that has a penalty loses one of it and is passed over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

class EcnBitmapPath : public PathPolicy {
 public:
  static constexpr std::uint8_t kMarked = 1;
  static constexpr std::uint8_t kTrimmed = 4;
  static constexpr std::uint8_t kLost = 15;
  static constexpr std::uint8_t kMost = 15;

  EcnBitmapPath(std::uint32_t evs, KeyedRandom random) : penalty_(evs, 0), random_(random) {}

  EvIndex pick(const PathChoices& choices, TimePs) override {
    if (next_ == kNoEv) next_ = choices.nth(static_cast<std::uint32_t>(random_.below(choices.count())));
    EvIndex ev = choices.next_from(next_);
    // One round at most: where all have a penalty, the next is taken.
    for (std::uint32_t left = choices.count(); left > 0 && penalty_[ev] > 0; --left) {
      --penalty_[ev];
      ev = choices.next_from(static_cast<EvIndex>(ev + 1));
    }
    next_ = static_cast<EvIndex>(ev + 1);
    return ev;
  }
  void heard(EvIndex ev, PathEvent event, TimePs) override {
    std::uint8_t more = 0;
    if (event == PathEvent::ecn || event == PathEvent::probe_ecn) more = kMarked;
    if (event == PathEvent::trimmed) more = kTrimmed;
    if (event == PathEvent::lost) more = kLost;
    penalty_[ev] = std::min<std::uint8_t>(kMost, penalty_[ev] + more);
  }

 private:
  std::vector<std::uint8_t> penalty_;  ///< by EV: turns that it still sits out
  KeyedRandom random_;
  EvIndex next_ = kNoEv;  ///< where the search begins; kNoEv: nowhere yet
};

}  // namespace mrc
