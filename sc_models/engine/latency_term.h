// A row of the latency account, as results have it.
#pragma once

#include <string>

namespace mrc {

/// One part of the time from posting a small write until the receiving software acts on it.
struct LatencyTerm {
  std::string term;
  double ns = 0;
  double low_ns = 0;  ///< range in which real systems lie, as far as is known
  double high_ns = 0;
  std::string source;  ///< as of a parameter
  std::string from;    ///< the parameters it follows from
};

}  // namespace mrc
