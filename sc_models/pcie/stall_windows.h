// Spans of time in which no TLP starts on the link, in either direction: a link that retrains, a host that is
// stalled.
#pragma once

#include <algorithm>
#include <vector>

#include "mrc/types.h"

namespace mrc {

class StallWindows {
 public:
  bool empty() const { return windows_.empty(); }
  /// Half open, `from` < `until`; windows may overlap.
  void add(TimePs from, TimePs until) {
    windows_.push_back({from, until});
    std::sort(windows_.begin(), windows_.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  }
  /// First time from `time` on that lies in no window.
  TimePs clear(TimePs time) const {
    for (const Window& window : windows_) {
      if (window.from > time) break;
      time = std::max(time, window.until);
    }
    return time;
  }

 private:
  struct Window {
    TimePs from;
    TimePs until;
  };
  std::vector<Window> windows_;
};

}  // namespace mrc
