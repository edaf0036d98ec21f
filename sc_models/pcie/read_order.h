// In which order reads are reported: those in order as they were begun, each of the others as it ends.
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/ring.h"

namespace mrc {

class ReadOrder {
 public:
  void begin(std::uint32_t job, bool in_order) {
    if (in_order) {
      in_order_.push(job);
    } else {
      loose_.push_back(job);
    }
  }
  /// The oldest in-order read that is not reported; null without one.
  const std::uint32_t* oldest_in_order() const { return in_order_.empty() ? nullptr : &in_order_.front(); }
  /// Reads that report when they end, and have not.
  const std::vector<std::uint32_t>& loose() const { return loose_; }

  /// Takes all reads out that may be reported: `done(job)` says whether a read has ended, `report(job, in_order)` is
  /// called for each.
  template <typename Done, typename Report>
  void take_reported(const Done& done, const Report& report) {
    while (!in_order_.empty()) {
      const std::uint32_t job = in_order_.front();
      if (!done(job)) break;
      in_order_.pop();
      report(job, true);
    }
    for (std::size_t i = 0; i < loose_.size();) {
      const std::uint32_t job = loose_[i];
      if (!done(job)) {
        ++i;
        continue;
      }
      loose_[i] = loose_.back();
      loose_.pop_back();
      report(job, false);
    }
  }

 private:
  Ring<std::uint32_t> in_order_;  ///< begun and not reported; small reads can be more than there are tags
  std::vector<std::uint32_t> loose_;
};

}  // namespace mrc
