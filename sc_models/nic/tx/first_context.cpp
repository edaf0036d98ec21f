#include "nic/tx/first_context.h"

#include <algorithm>

#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {

void FirstContext::connect(QpScheduler& scheduler) {
  scheduler_ = &scheduler;
  scheduler.connect(*this);
}

bool FirstContext::may_use(TimePs now, std::uint32_t qp, StartId because) {
  if (!scheduler_->evicts_contexts()) return true;
  if (state_ == State::unasked) {
    qp_ = qp;
    ask(now, because);
  }
  if (state_ != State::here) return false;
  if (now < ready_at_) {
    box_.wake_at(ready_at_);
    return false;
  }
  state_ = State::unasked;
  return true;
}

void FirstContext::ask(TimePs now, StartId because) {
  came_by_ = because;
  if (scheduler_->answers_later()) {
    state_ = State::asked;
    scheduler_->ask_context(now, qp_, *this, because);
  } else if (scheduler_->has_context(now, qp_, box_, because)) {
    state_ = State::here;
    ready_at_ = now;
  } else if (scheduler_->context_is_read(qp_)) {
    state_ = State::awaited;
  }
}

Cause FirstContext::waits_for() const {
  return state_ == State::asked ? scheduler_->busy() : scheduler_->context_miss();
}

void FirstContext::is_here(TimePs now, TimePs done_at) {
  state_ = State::here;
  ready_at_ = done_at;
  box_.wake_at(std::max(now, done_at));
}

bool FirstContext::context_here(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) {
  if (!waits_for_context(qp)) return false;
  came_by_ = because;
  is_here(now, done_at);
  return true;
}

void FirstContext::context_seen(ContextLookup lookup, TimePs now) {
  if (lookup == ContextLookup::here) {
    is_here(now, now);
  } else if (lookup == ContextLookup::no_room) {
    state_ = State::unasked;
    scheduler_->wait_to_ask(now, box_);
  } else {
    state_ = State::awaited;
  }
}

}  // namespace mrc::timing
