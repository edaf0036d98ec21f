#include "engine/causal_trace.h"

namespace mrc {

void CausalTrace::end() {
  first_ += static_cast<StartId>(records_.size());
  records_.clear();
  recording_ = false;
}

void CausalTrace::begin() {
  end();
  records_.reserve(kWindow);
  recording_ = true;
}

StartId StartTrace::record(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, TimePs free_at,
                           Cause busy_with) {
  // A box looks for room after it has something to do and is free, so that what blocked it came last. Of an arrival and
  // a server that becomes free at the same time it is the arrival: the server only keeps up with it.
  if (slot.is_blocked()) {
    last_ = node_.waited(now, node_.gave(slot.blocked_by()), place_, slot.blocked_by());
  } else if (ready_at >= free_at) {
    last_ = node_.arrived(now, arrived, place_);
  } else {
    last_ = node_.waited(now, last_, place_, busy_with);
  }
  return last_;
}

StartId StartTrace::start_held(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, Cause pool) {
  if (!on()) return 0;
  const TimePs free_at = slot.busy_until();
  const StartId due =
      ready_at >= free_at ? node_.arrived(ready_at, arrived, place_) : node_.waited(free_at, last_, place_, server_);
  return last_ = on() ? node_.delayed(now, due, place_, pool) : due;
}

}  // namespace mrc
