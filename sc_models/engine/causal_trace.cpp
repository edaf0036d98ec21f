#include "engine/causal_trace.h"

#include <algorithm>

namespace mrc {

void CausalTrace::record(bool on) {
  recording_ = on;
  for (bool* told : told_) *told = on;
}

void CausalTrace::end() {
  first_ += static_cast<StartId>(records_.size());
  records_.clear();
  record(false);
}

void CausalTrace::begin(TimePs now, std::size_t records) {
  end();
  began_at_ = now;
  window_ = std::min(records, most_);
  record(true);
}

StartId StartTrace::keep(StartId start) {
  last_ = start;
  stalled_by_ = {};
  if (!(queue_ == Cause())) node_.give(queue_, start);
  return start;
}

// Kept out of the boxes' code: a start is recorded in a small part of a run.
[[gnu::cold]] StartId StartTrace::record(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at,
                                         TimePs free_at, Cause busy_with) {
  // A box looks for room after it has something to do and is free, so that what blocked it came last. Of an arrival and
  // a server that becomes free at the same time it is the arrival: the server only keeps up with it.
  if (slot.is_blocked()) return start_after(now, node_.gave(slot.blocked_by()), slot.blocked_by());
  if (ready_at >= free_at) return start_at_arrival(now, arrived);
  return start_after(now, last_, stalled_by_ == Cause() ? busy_with : stalled_by_);
}

[[gnu::cold]] StartId StartTrace::record_held(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at,
                                              Cause pool) {
  const TimePs free_at = slot.busy_until();
  const StartId due =
      ready_at >= free_at ? node_.arrived(ready_at, arrived, place_) : node_.waited(free_at, last_, place_, server_);
  return keep(on() ? node_.delayed(now, due, place_, pool) : due);
}

}  // namespace mrc
