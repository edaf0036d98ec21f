// Where the time of an issue slot went. Each moment of a slot is attributed to exactly one of busy, starved (work
// exists upstream), idle (the NIC holds no work for it) or blocked by a named resource; the sums make up the run.
#pragma once

#include <cstdint>
#include <string>

#include "engine/box.h"
#include "engine/cause.h"
#include "engine/recorder.h"
#include "mrc/types.h"

namespace mrc {

/// Told before a slot changes its state, and before work begins or ends, unless nobody cares until `quiet_until()`.
class SlotObserver {
 public:
  virtual ~SlotObserver() = default;
  virtual void before_change(TimePs now) = 0;
  TimePs quiet_until() const { return quiet_until_; }

 protected:
  TimePs quiet_until_ = 0;
};

/// Time during which a NIC holds work for a group of slots (transmit, receive); separates starved from idle.
class WorkClock {
 public:
  void begin(TimePs now) {
    if (count_ == 0) change(now);
    if (count_++ == 0) since_ = now;
    if (tap_.recorder != nullptr) tell(now, 1);
  }
  void end(TimePs now) {
    if (count_ == 1) change(now);
    if (--count_ == 0) {
      total_ += now - since_;
      since_ = kNever;
    }
    if (tap_.recorder != nullptr) tell(now, ~std::uint64_t{0});
  }
  void observe(SlotObserver& observer) const { observer_ = &observer; }
  void record_to(Recorder& recorder, std::uint32_t object) const { tap_ = {&recorder, object}; }
  bool active() const { return count_ > 0; }
  /// Time with work up to `now`, where `now` may lie ahead: work in hand is taken to last.
  TimePs elapsed(TimePs now) const { return total_ + (now > since_ ? now - since_ : 0); }

 private:
  void change(TimePs now) {
    if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
  }
  [[gnu::cold, gnu::noinline]] void tell(TimePs now, std::uint64_t change) const {
    tap_.recorder->add({.time = now, .value = change, .object = tap_.object, .kind = Record::Kind::work, .packet = {}});
  }

  mutable SlotObserver* observer_ = nullptr;
  std::uint64_t count_ = 0;
  TimePs since_ = kNever;  ///< kNever without work
  TimePs total_ = 0;
  mutable RecorderTap tap_;
};

class alignas(64) IssueSlot {
 public:
  /// Declared by `box`, whose name it has; `part` tells several slots of a box apart.
  IssueSlot(Box& box, const WorkClock& work, const std::string& part = "");
  IssueSlot(const IssueSlot&) = delete;
  IssueSlot& operator=(const IssueSlot&) = delete;

  /// The slot issues from `now` until `until`; afterwards it is empty-handed unless told otherwise.
  /// Called for every packet in every box. Its usual path calls no other function, so that no registers are saved.
  [[gnu::noinline]] void busy(TimePs now, TimePs until) {
    if (is_heard(now)) [[unlikely]] {
      busy_heard(now, until);
      return;
    }
    charge(now);
    issue(now, until);
    state_ = kEmpty;
    work_at_open_ = work_->elapsed(last_);
  }
  void blocked(TimePs now, Cause cause) {
    close(now);
    state_ = cause.index();
    if (is_recorded_) tell(state_, last_);
  }
  /// Nothing to do: starved while the NIC holds work for the slot, idle otherwise.
  void empty(TimePs now) {
    close(now);
    open_empty();
  }

  /// The slot cannot go on at `now` and for `span_ps` for want of a memory's port; busy() for the same `now` follows.
  void stalled(TimePs now, TimePs span_ps, Cause cause) {
    if (span_ps > 0) [[unlikely]]
      stall(now, span_ps, cause);
  }
  /// What it issues at the moment waited for a memory's port.
  bool is_stalled() const { return stalled_at_ == busy_from_; }
  Cause stalled_by() const { return stalled_by_; }

  void observe(SlotObserver& observer) { observer_ = &observer; }
  void record_to(Recorder& recorder, std::uint32_t object) const {
    tap_ = {&recorder, object};
    is_recorded_ = true;
  }
  const WorkClock& work() const { return *work_; }
  bool is_blocked() const { return state_ != kEmpty; }
  /// Precondition: is_blocked().
  Cause blocked_by() const { return Cause::at(state_); }
  /// Issues at `now`; what it was told last reaches as far.
  bool is_busy(TimePs now) const { return state_ == kEmpty && busy_until_ >= now; }

  /// End of what it was told last to issue.
  TimePs busy_until() const { return busy_until_; }

  const std::string& box() const { return box_; }
  /// Shares up to `end`; call once, at the end of the run.
  void finish(TimePs end) { close(end); }
  TimePs busy_ps() const { return busy_; }
  TimePs starved_ps() const { return starved_; }
  TimePs idle_ps() const { return idle_; }
  TimePs blocked_ps(Cause cause) const { return blocked_[cause.index()]; }
  /// Time accounted so far: the end of the last charged span.
  TimePs accounted_ps() const { return last_; }

 private:
  static constexpr std::uint8_t kEmpty = 0xFF;

  void open_empty() {
    state_ = kEmpty;
    work_at_open_ = work_->elapsed(last_);
    if (is_recorded_) tell(kSlotEmpty, last_);
  }
  [[gnu::noinline]] void stall(TimePs now, TimePs span_ps, Cause cause) {
    close(now);
    const TimePs end = now + span_ps;
    if (is_recorded_ && end > last_) tell(cause.index(), end);
    if (end > last_) {
      blocked_[cause.index()] += end - last_;
      last_ = end;
    }
    stalled_at_ = now;
    stalled_by_ = cause;
  }
  /// States begin where the account of the last one ends.
  [[gnu::cold, gnu::noinline]] void tell(std::uint64_t state, TimePs until) const {
    tap_.recorder->add({.time = last_,
                        .until = until,
                        .value = state,
                        .object = tap_.object,
                        .kind = Record::Kind::slot,
                        .packet = {}});
  }
  /// By an observer, which wants to know first, or by a recorder.
  bool is_heard(TimePs now) const { return is_recorded_ || (observer_ != nullptr && now > observer_->quiet_until()); }
  [[gnu::noinline]] void busy_heard(TimePs now, TimePs until) {
    close(now);
    if (is_recorded_ && until > last_) tell(kSlotBusy, until);
    issue(now, until);
    open_empty();
  }
  void issue(TimePs now, TimePs until) {
    busy_from_ = now;
    busy_until_ = until;
    if (until <= last_) return;
    busy_ += until - last_;
    last_ = until;
  }
  /// Called several times per packet and box.
  [[gnu::always_inline]] void close(TimePs now) {
    if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
    charge(now);
  }
  [[gnu::always_inline]] void charge(TimePs now) {
    if (now <= last_) return;
    const TimePs span = now - last_;
    if (state_ != kEmpty) {
      blocked_[state_] += span;
    } else {
      const TimePs worked = work_->elapsed(now);
      const TimePs with_work = worked > work_at_open_ ? worked - work_at_open_ : 0;
      const TimePs starved = with_work < span ? with_work : span;
      starved_ += starved;
      idle_ += span - starved;
    }
    last_ = now;
  }

  // What each change looks at comes first, from the beginning of a cache line on.
  const WorkClock* work_;
  SlotObserver* observer_ = nullptr;
  TimePs busy_from_ = 0;
  TimePs busy_until_ = 0;
  TimePs last_ = 0;
  TimePs work_at_open_ = 0;
  TimePs busy_ = 0;
  std::uint8_t state_ = kEmpty;
  mutable bool is_recorded_ = false;
  mutable RecorderTap tap_;
  TimePs starved_ = 0;
  TimePs idle_ = 0;
  TimePs stalled_at_ = kNever;
  Cause stalled_by_;
  std::string box_;
  PerCause<TimePs> blocked_{};
};

}  // namespace mrc
