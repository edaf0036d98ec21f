// Round robin: the EVs in the order of their profile, from a random one on, so that NICs are not in step.
#pragma once

#include <cstdint>

#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

class RoundRobinPath : public PathPolicy {
 public:
  RoundRobinPath(std::uint32_t /*evs*/, KeyedRandom random) : random_(random) {}

  EvIndex pick(const PathChoices& choices, TimePs) override {
    if (next_ == kNoEv) next_ = choices.nth(static_cast<std::uint32_t>(random_.below(choices.count())));
    const EvIndex ev = choices.next_from(next_);
    next_ = static_cast<EvIndex>(ev + 1);
    return ev;
  }

 private:
  KeyedRandom random_;
  EvIndex next_ = kNoEv;  ///< where the search begins; kNoEv: nowhere yet
};

}  // namespace mrc
