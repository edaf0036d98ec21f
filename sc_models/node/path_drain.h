// EVs that a controller denies for a while so that no data takes them, because their path crosses a place that is to be
// emptied, and allows again. Software writes them into all path tables of a NIC, at once (assumption: it takes no
// time). Detailed NICs and light endpoints both have one, driven by their own timers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fabric/fault_timeline.h"
#include "fabric/port_status_step.h"
#include "node/node_context.h"

namespace mrc {

class PathDrain {
 public:
  explicit PathDrain(NodeContext& nic) : nic_(nic) {}

  /// What `timeline`, which outlives it, has in store; told before the run.
  void follow(const FaultTimeline& timeline);
  /// Called when EVs have been allowed again.
  void on_allow(std::function<void(TimePs)> after) { after_allow_ = std::move(after); }

  /// When due() has something to do, kNever without.
  TimePs next() const { return next_ < changes_.size() ? changes_[next_].at : kNever; }
  void due(TimePs now);
  const std::vector<PortStatusStep>& steps() const { return steps_; }

 private:
  struct Change {
    TimePs at;
    std::uint32_t fault;
    bool begins;
  };

  /// Both return how many EVs were written.
  std::uint32_t begin(std::uint32_t fault);
  std::uint32_t end(std::uint32_t fault);

  NodeContext& nic_;
  const FaultTimeline* timeline_ = nullptr;
  std::vector<Change> changes_;  ///< in order of time
  std::size_t next_ = 0;
  std::vector<std::uint32_t> active_;  ///< drains that have begun and not ended
  std::vector<PortStatusStep> steps_;
  std::function<void(TimePs)> after_allow_;
};

}  // namespace mrc
