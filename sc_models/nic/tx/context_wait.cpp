#include "nic/tx/context_wait.h"

#include <algorithm>

#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {

ContextWait::ContextWait(NicContext& nic, const Owner& owner, const Places& places)
    : nic_(nic), owner_(owner), places_(kUnlisted, places.name, "entries", places.count), full_(places.full) {
  if (!places.is_listed) return;
  Box& box = owner_.box;
  box.declare(DeclaredBuffer{.occupancy = &places_});
  box.declare(DeclaredTokens{.cause = full_,
                             .capacity = places_.capacity(),
                             .unit = places_.unit(),
                             .taken_by = box.place().name,
                             .returned_by = box.place().name,
                             .way = TokenWay::pcie_read});
  waiting_.reserve(places_.capacity());
}

void ContextWait::connect(QpScheduler& scheduler) {
  scheduler_ = &scheduler;
  scheduler.connect(*this);
}

bool ContextWait::context_here(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) {
  bool waited_for = false;
  for (Waiting& waiting : waiting_) {
    if (waiting.qp != qp || waiting.ready_at != kNever) continue;
    waiting.ready_at = done_at;
    waiting.because = because;
    owner_.box.wake_at(std::max(now, done_at));
    waited_for = true;
  }
  return waited_for;
}

bool ContextWait::waits_for_context(std::uint32_t qp) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& waiting) { return waiting.qp == qp && waiting.ready_at == kNever; });
}

ContextWait::First ContextWait::first(TimePs now, std::uint32_t qp) {
  if (scheduler_->answers_later()) return first_answer(now, qp);
  if (scheduler_->has_context(now, qp, owner_.box, owner_.in.front()->last_start)) return First::here;
  if (scheduler_->context_is_read(qp)) return set_aside(now, qp);
  owner_.slot.blocked(now, scheduler_->context_miss());
  return First::stays;
}

ContextWait::First ContextWait::set_aside(TimePs now, std::uint32_t qp) {
  if (!places_.fits(1)) {
    owner_.slot.blocked(now, full_);
    places_.refuse(now);
    return First::stays;
  }
  waiting_.push_back({.packet = pop(now), .qp = qp});
  places_.add(now, 1);
  owner_.slot.blocked(now, scheduler_->context_miss());
  return First::set_aside;
}

Packet* ContextWait::pop(TimePs now) {
  if (!asked_.empty()) {
    std::ranges::replace(open_, &asked_.front(), nullptr);
    asked_.pop_front();
  }
  return owner_.in.pop(now);
}

void ContextWait::ask_ahead(TimePs now) {
  if (asked_.size() < std::min<std::size_t>(kMostAsked, owner_.in.size())) {
    std::size_t place = 0;
    owner_.in.for_each([&](const Packet* packet) {
      if (place++ < asked_.size() || asked_.size() == kMostAsked) return;
      const Qp* qp = owner_.qp_of(nic_, *packet);
      asked_.push_back(
          {.qp = qp != nullptr ? nic_.index_of(*qp) : 0, .because = packet->last_start, .is_needed = qp != nullptr});
    });
  }
  for (Asked& asked : asked_) {
    if (!asked.is_needed || asked.is_asked) continue;
    asked.is_asked = true;
    open_.push_back(&asked);
    scheduler_->ask_context(now, asked.qp, *this, asked.because);
  }
}

void ContextWait::context_seen(ContextLookup lookup, TimePs now) {
  if (open_.front() != nullptr) open_.front()->answer = lookup;
  open_.pop_front();
  owner_.box.wake_at(now);
}

ContextWait::First ContextWait::first_answer(TimePs now, std::uint32_t qp) {
  if (!asked_.empty() && !asked_.front().is_needed) {
    asked_.front() = {.qp = qp, .because = owner_.in.front()->last_start, .is_needed = true};
  }
  ask_ahead(now);
  Asked& first = asked_.front();
  if (!first.answer) {
    owner_.slot.blocked(now, scheduler_->busy());
    return First::stays;
  }
  if (*first.answer == ContextLookup::here) return First::here;
  if (*first.answer == ContextLookup::no_room) {
    owner_.slot.blocked(now, scheduler_->context_miss());
    first.answer.reset();
    first.is_asked = false;
    scheduler_->wait_to_ask(now, owner_.box);
    return First::stays;
  }
  // It is read, or has come since.
  if (!scheduler_->context_is_read(first.qp)) return First::here;
  return set_aside(now, first.qp);
}

std::optional<ContextWait::Waited> ContextWait::take(TimePs now) {
  TimePs next = kNever;
  for (auto waiting = waiting_.begin(); waiting != waiting_.end(); ++waiting) {
    next = std::min(next, waiting->ready_at);
    if (waiting->ready_at > now) continue;
    const Waited taken{waiting->packet, waiting->qp, waiting->because};
    waiting_.erase(waiting);
    places_.remove(now, 1);
    return taken;
  }
  if (next != kNever) owner_.box.wake_at(next);
  return std::nullopt;
}

void ContextWait::for_each_packet(const PacketVisitor& visit) const {
  for (const Waiting& waiting : waiting_) visit(*waiting.packet);
}

}  // namespace mrc::timing
