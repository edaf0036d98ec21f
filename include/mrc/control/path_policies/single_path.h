// Single path: a random EV and no other while it is GOOD; its port is waited for. When it goes out of use, another
// random one takes its place.
#pragma once

#include <cstdint>

#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

class SinglePath : public PathPolicy {
 public:
  SinglePath(std::uint32_t /*evs*/, KeyedRandom random) : random_(random) {}

  EvIndex pick(const PathChoices& choices, TimePs) override {
    if (ev_ == kNoEv || !choices.may_wait_for(ev_)) {
      ev_ = choices.nth(static_cast<std::uint32_t>(random_.below(choices.count())));
    }
    return choices.may_use(ev_) ? ev_ : kNoEv;
  }

 private:
  KeyedRandom random_;
  EvIndex ev_ = kNoEv;
};

}  // namespace mrc
