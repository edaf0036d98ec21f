// Oblivious random: each packet on any EV that may be used, all with the same probability, whatever was heard of them.
#pragma once

#include <cstdint>

#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

class RandomPath : public PathPolicy {
 public:
  RandomPath(std::uint32_t /*evs*/, KeyedRandom random) : random_(random) {}

  EvIndex pick(const PathChoices& choices, TimePs) override {
    return choices.nth(static_cast<std::uint32_t>(random_.below(choices.count())));
  }

 private:
  KeyedRandom random_;
};

}  // namespace mrc
