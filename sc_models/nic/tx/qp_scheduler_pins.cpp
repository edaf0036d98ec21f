// The box of qp_scheduler where its RTL is clocked with the run: what happens around a cycle of the RTL's clock.
#include "nic/tx/qp_scheduler.h"

#include <algorithm>
#include <utility>

#include "nic/tx/retransmit_buffer.h"

namespace mrc::timing {
namespace {

constexpr std::uint32_t kMostWqeRequests = 2;  ///< of a turn

}  // namespace

bool QpScheduler::may_begin_turn() const {
  const std::uint32_t turns = rtl_->turns_inside() + 1;
  return grants_.has_room_for(turns) && wqe_requests_.has_room_for(kMostWqeRequests * turns);
}

void QpScheduler::wait_to_begin_turn(TimePs now) {
  const bool full = grants_.full();
  slot.blocked(now, full ? grants_full_ : no_wqe_);
  if (full) {
    grants_.wait_room(now, *this);
  } else {
    wqe_requests_.wait_room(now, *this);
  }
}

void QpScheduler::offer_fill(TimePs now) {
  if (came_.empty() || came_.begin()->at > now || !rtl_->takes_fill()) return;
  const ContextThatCame context = *came_.begin();
  came_.erase(came_.begin());
  const bool sends = nic_.qps[context.qp].sender != nullptr;
  // In a slot it is kept until its first use, if there will be one.
  const bool used = is_waited_for(context.qp) || !sends;
  rtl_->offer_fill({.qp = context.qp, .list = sends, .used = used}, context.at, context.because);
}

void QpScheduler::wake_for_offers() {
  const TimePs next = std::min(rtl_->next_activation(), came_.empty() ? kNever : came_.begin()->at);
  if (next != kNever) wake_at(next);
}

void QpScheduler::was_listed(std::uint32_t index, TimePs, StartId because) {
  nic_.qps[index].starts.activated = because;
}

void QpScheduler::turn_ended(const ContextReply& turn, TimePs now) {
  nic_.qps[turn.qp].starts.parked = context_miss_;
  slot.blocked(now, context_miss_);
  turn_unused_ = true;
}

void QpScheduler::granted(const ContextReply& turn, TurnWait wait, TimePs now) {
  Qp& qp = nic_.qps[turn.qp];
  slot_of_turn_[turn.qp] = turn.slot;
  next_start_ = now;  // memories add to it
  if (!may_be_granted(now, qp)) {
    turn_unused_ = true;
    return;
  }
  ++granted_[qp.traffic_class];
  const StartId start = trace_grant_by_pins(now, qp, wait);
  grants_.push(now, {turn.qp, turn.quantum_bytes, start}, next_start_);
}

StartId QpScheduler::trace_grant_by_pins(TimePs now, Qp& qp, TurnWait wait) {
  const Cause parked = std::exchange(qp.starts.parked, {});
  if (!starts_.on()) return 0;
  if (wait == TurnWait::room) return starts_.start_after(now, nic_.trace.gave(grants_full_), grants_full_);
  // QPs whose contexts are missing go round, which is not what the next one waits for.
  if (wait == TurnWait::rtl && !(parked == context_miss_)) return starts_.start_after(now, starts_.last(), busy());
  if (!(parked == Cause())) return starts_.start_after(now, qp.starts.activated, parked);
  return starts_.start_at_arrival(now, qp.starts.activated);
}

void QpScheduler::was_seen(const ContextReply& seen, TimePs now) {
  ContextLookup lookup = seen.lookup;
  const bool missed = lookup == ContextLookup::fetched || lookup == ContextLookup::loading;
  // It may have come since: what has been read is used once.
  if (missed && !slots_->loading(seen.qp)) lookup = ContextLookup::here;
  ContextClient* client = asked_by_.front();
  asked_by_.pop_front();
  client->context_seen(lookup, now);
}

void QpScheduler::begin_fetch(const ContextReply& fetched, TimePs now, StartId because) {
  fetch(now, fetched, because);
}

void QpScheduler::was_filled(std::uint32_t index, TimePs now, TimePs done_at, StartId because) {
  for (ContextClient* client : clients_) client->context_here(index, now, std::max(now, done_at), because);
  contexts_.set(now, contexts_held());
}

void QpScheduler::ask_context(TimePs now, std::uint32_t index, ContextClient& client, StartId because) {
  asked_by_.push_back(&client);
  rtl_->offer_lookup(index, because);
  wake_at(now);
}

void QpScheduler::wait_to_ask(TimePs now, Box& box) {
  if (can_fetch() && rtl_->fetch_is_free()) {
    box.wake_at(now + nic_.clock.period_ps());
  } else {
    wait_for_room(now, box);
  }
}

/// A cycle of the RTL's clock at each edge of the core clock, until it has nothing to do.
void QpScheduler::step_by_pins(TimePs now) {
  if (rtl_->is_over()) return;
  const TimePs edge = std::max(nic_.clock.edge(now), next_cycle_);
  if (now < edge) {
    wake_at(edge);
    return;
  }
  ready_qps_.set(now, qps_listed());
  offer_fill(now);
  const bool run = may_begin_turn();
  if (rtl_->is_idle(now, run)) {
    if (!lists_[0].empty()) wait_to_begin_turn(now);
    wake_for_offers();
    return;
  }
  next_cycle_ = now + nic_.clock.period_ps();
  turn_unused_ = false;
  rtl_->clock(now, nic_.clock.edge_index(now), run);
  if (rtl_->was_occupied() && !turn_unused_) slot.busy(now, next_cycle_);
  wake_at(next_cycle_);
}

}  // namespace mrc::timing
