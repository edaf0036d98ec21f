#include "nic/control/retransmit_timer.h"

#include <algorithm>
#include <functional>

#include "nic/control/sack_processor.h"

namespace mrc::timing {

RetransmitTimer::RetransmitTimer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic)
    : Box(name, owner, {.name = "retransmit_timer", .part = NicPart::control, .behind = "probe_engine"}),
      nic_(nic),
      timers_(nic.memories[kTimers]),
      timeout_(nic.causes.declare("retransmission_timeout", {"protocol.timeout_exponent"})),
      place_(nic.trace.new_place()) {
  heap_.reserve(nic.qps.size());
}

void RetransmitTimer::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  out.add(kTimers, {.depth = nic.scale.qps, .banks = 2},
          {{"deadline", 32}, {"timeouts", 5}, {"retries", 5}, {"armed", 1}});
}

void RetransmitTimer::push(Entry entry) {
  nic_.qps[entry.qp].timer_at = entry.at;
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  wake_at(entry.at);
}

void RetransmitTimer::update(std::uint32_t index, TimePs now) {
  timers_.count(now);
  const TimePs deadline = nic_.qps[index].sender->next_deadline();
  if (deadline < nic_.qps[index].timer_at) push({std::max(deadline, now), index});
}

RetransmitTimer::Entry RetransmitTimer::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
  const Entry entry = heap_.back();
  heap_.pop_back();
  return entry;
}

bool RetransmitTimer::expire(TimePs now, const Entry& entry) {
  Qp& qp = nic_.qps[entry.qp];
  const bool is_due = qp.sender->next_deadline() <= now;
  // An answer may have come while the context was read, which then is not needed.
  if ((is_due || expired_) && !context_.may_use(now, entry.qp, qp.starts.sent)) return false;
  qp.timer_at = kNever;
  if (is_due) {
    const StartId start = nic_.trace.on() ? nic_.trace.delayed(now, qp.starts.sent, place_, timeout_) : 0;
    sack_processor_->follow_up(now, qp, qp.sender->on_deadline(now), start);
  }
  update(entry.qp, now);
  return true;
}

void RetransmitTimer::step(TimePs now) {
  while (expired_ || (!heap_.empty() && heap_.front().at <= now)) {
    const Entry entry = expired_ ? *expired_ : pop();
    if (!expired_ && nic_.qps[entry.qp].timer_at != entry.at) continue;
    if (!expire(now, entry)) {
      expired_ = entry;
      return;
    }
    expired_.reset();
  }
  if (!heap_.empty()) wake_at(heap_.front().at);
}

}  // namespace mrc::timing
