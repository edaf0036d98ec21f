// What a run tells of itself while it goes on.
#pragma once

#include <functional>

namespace mrc {

struct Progress {
  double simulated_us = 0;
  double share = 0;  ///< of what there is to do, 0 … 1
};

/// May be empty: nobody listens.
using ProgressListener = std::function<void(const Progress&)>;

}  // namespace mrc
