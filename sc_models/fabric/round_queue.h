// The fabric's events where nodes and switches take turns (see Network::run_in_turns()): a round of them at a time. A
// round is at most as long as what one of them does takes to act on another, so that nothing that happens in it makes
// anything happen to another in it. Rounds become shorter where many events are in one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "fabric/event_chunks.h"
#include "fabric/event_queue.h"
#include "mrc/types.h"

namespace mrc {

class RoundQueue {
 public:
  /// An event in its round.
  class Event {
   public:
    Event() = default;
    Event(TimePs begin, const FabricEvent& event, std::uint32_t owner)
        : order_((event.time - begin) << 32 | std::uint64_t{static_cast<std::uint8_t>(event.kind)} << 24 |
                 event.target),
          payload_(event.payload),
          owner_(owner) {}

    FabricEvent at(TimePs begin) const {
      return {begin + offset(), static_cast<FabricEventKind>(order_ >> 24 & 0xFF),
              static_cast<std::uint32_t>(order_) & (FabricEventQueue::kMostTargets - 1), payload_};
    }
    /// ps since the round began.
    std::uint32_t offset() const { return static_cast<std::uint32_t>(order_ >> 32); }
    std::uint32_t owner() const { return owner_; }
    Event later_by(TimePs offset) const {
      Event later = *this;
      later.order_ += offset << 32;
      return later;
    }
    /// As in FabricEventQueue; only what is alike in all shares a place.
    friend bool operator<(const Event& a, const Event& b) { return a.order_ < b.order_; }

   private:
    std::uint64_t order_ = 0;  ///< the offset, then the kind, then the target
    std::uint32_t payload_ = 0;
    std::uint32_t owner_ = 0;
  };
  /// So many events that say nothing (timers) lie behind the last turn, so that who looks ahead finds no end.
  static constexpr std::size_t kBehindLast = 8;

  /// An event with the number of its owner.
  struct Owned {
    FabricEvent event;
    std::uint32_t owner = 0;

    friend bool operator>(const Owned& a, const Owned& b) { return a.event > b.event; }
  };

  /// For events of `owners`, in rounds of at most `longest` ps, which is 2 or more. There are no events.
  void set_up(std::size_t owners, TimePs longest) {
    events_of_.assign(owners, 0);
    longest = std::min<TimePs>(longest, 0x7FFF'FFFF);
    slots_of_round_ = std::min<TimePs>(longest / 2, kMostSlotsOfRound);
    set_length(longest / slots_of_round_);
    current_ = 0;
  }

  /// Rounds become shorter where one has more. Affects only the run time.
  void set_most_events(std::size_t events) { most_events_ = events; }

  /// Of `owner`. The time is not before the horizon of the take() before, nor before the end of the round that it took
  /// from.
  void push(const FabricEvent& event, std::uint32_t owner) {
    const std::uint64_t number = slot_of(event.time);
    if (number - current_ >= kSlots) [[unlikely]] {
      far_.push({event, owner});
      return;
    }
    const std::uint64_t slot = number % kSlots;
    if (lists_[slot] == Chunks::kEmpty) begins_[slot] = begin_of(number);
    put(slot, Event(begins_[slot], event, owner));
  }

  /// From the earliest event's slot on, what is due before `horizon`, for next_turn(). False without any.
  bool take(TimePs horizon) {
    const std::uint64_t first = next_slot();
    if (first == kNone || begin_of(first) >= horizon) return false;
    advance_to(first);
    begin_ = begin_of(first);
    end_ = std::min(begin_of(first + slots_of_round_), horizon);
    taken_.clear();
    const std::uint64_t cut = slot_of(end_);
    for (std::uint64_t number = first; number <= cut && number < first + slots_of_round_; ++number)
      take_slot(number % kSlots, number == cut);
    hand_out();
    shorten_ = events_ > most_events_ && length_ > 2;
    return events_ > 0;
  }
  /// When the round begins, and the end of what was taken.
  TimePs begin() const { return begin_; }
  TimePs end() const { return end_; }
  /// The events of another owner, in order of time; none where all had their turn.
  std::span<const Event> next_turn() {
    if (next_owner_ == owners_.size()) return {};
    const std::size_t first = std::exchange(events_of_[owners_[next_owner_++]], 0);
    const std::size_t end = next_owner_ < owners_.size() ? events_of_[owners_[next_owner_]] : events_;
    const std::span turn = std::span(turns_).subspan(first, end - first);
    if (!std::is_sorted(turn.begin(), turn.end())) sort(turn);
    return turn;
  }

  /// Time of the earliest event, kNever without one.
  TimePs next_time() const {
    const std::uint64_t number = next_slot();
    if (number == kNone) return kNever;
    TimePs first = far_.empty() ? kNever : far_.top().event.time;
    const std::uint64_t slot = number % kSlots;
    chunks_.for_each(lists_[slot], [&](Event event) { first = std::min(first, begins_[slot] + event.offset()); });
    return first;
  }

  /// Takes all out.
  std::vector<Owned> take_all() {
    std::vector<Owned> all;
    for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
      const Chunks::List list = std::exchange(lists_[slot], Chunks::kEmpty);
      chunks_.for_each(list, [&](Event event) { all.push_back({event.at(begins_[slot]), event.owner()}); });
      chunks_.release(list);
    }
    filled_ = {};
    for (; !far_.empty(); far_.pop()) all.push_back(far_.top());
    return all;
  }

  /// Makes rounds shorter where the last had too many events. Between rounds.
  void fit() {
    if (!std::exchange(shorten_, false)) return;
    const std::vector<Owned> all = take_all();
    set_length((length_ + 1) / 2);
    current_ = slot_of(end_);
    for (const Owned& owned : all) push(owned.event, owned.owner);
  }

 private:
  static constexpr std::uint64_t kSlots = 4'096;
  static constexpr std::uint64_t kNone = ~0ULL;
  /// Where a horizon ends a round, only what is in one slot is gone through twice.
  static constexpr TimePs kMostSlotsOfRound = 4;
  // How a turn is sorted: these numbers affect only the run time.
  static constexpr std::size_t kShort = 16;
  static constexpr std::size_t kEventsOfPart = 4;

  using Chunks = EventChunks<Event, 15>;
  __extension__ using Wide = unsigned __int128;
  struct Taken {
    Chunks::List list;
    TimePs offset;  ///< of the slot's begin in the round
  };
  void set_length(TimePs length) {
    length_ = length;
    // Rounded up: two times that are `length` apart are never in one slot.
    scale_ = static_cast<std::uint64_t>(((Wide{1} << 64) + length - 1) / length);
  }
  std::uint64_t slot_of(TimePs time) const { return static_cast<std::uint64_t>(Wide{time} * scale_ >> 64); }
  TimePs begin_of(std::uint64_t number) const {
    return static_cast<TimePs>(((Wide{number} << 64) + scale_ - 1) / scale_);
  }

  /// What is in a slot, or of it what is due before end_: the rest stays there.
  void take_slot(std::uint64_t slot, bool is_cut) {
    if (lists_[slot] == Chunks::kEmpty) return;
    const TimePs offset = begins_[slot] - begin_;
    Chunks::List list = std::exchange(lists_[slot], Chunks::kEmpty);
    filled_[slot / 64] &= ~(1ULL << (slot % 64));
    if (is_cut) {
      Chunks::List due = Chunks::kEmpty;
      chunks_.for_each(list, [&](Event event) {
        if (offset + event.offset() < end_ - begin_)
          chunks_.put(due, event);
        else
          put(slot, event);
      });
      chunks_.release(std::exchange(list, due));
    }
    taken_.push_back({list, offset});
  }
  /// What was taken, by owner, and of an owner in the order in which it was put in, as far as one slot goes.
  void hand_out() {
    owners_.clear();
    for (const Taken& taken : taken_) {
      chunks_.for_each(taken.list, [&](const Event& event) {
        if (events_of_[event.owner()]++ == 0) owners_.push_back(event.owner());
      });
    }
    // First where the events of each end, then, as they come from the last to the first, where they begin.
    std::uint32_t end = 0;
    for (const std::uint32_t owner : owners_) end = events_of_[owner] += end;
    events_ = end;
    if (turns_.size() < events_ + kBehindLast) turns_.resize(events_ + kBehindLast);
    for (auto taken = taken_.rbegin(); taken != taken_.rend(); ++taken) {
      chunks_.for_each(taken->list, [&](const Event& event) {
        turns_[--events_of_[event.owner()]] = event.later_by(taken->offset);
      });
      chunks_.release(taken->list);
    }
    const Event nothing(0, {.kind = FabricEventKind::timer}, 0);
    std::fill_n(turns_.begin() + static_cast<std::ptrdiff_t>(events_), kBehindLast, nothing);
    next_owner_ = 0;
  }

  /// Into parts by the first bits of the time, without unpredictable branches, then each to its place, which is near.
  void sort(std::span<Event> turn) {
    if (turn.size() <= kShort) {
      insert_each(turn, turn);
      return;
    }
    const std::size_t parts = std::bit_ceil(turn.size() / kEventsOfPart);
    const int shift = std::max(0, static_cast<int>(std::bit_width(end_ - begin_ - 1)) - std::countr_zero(parts));
    ends_of_parts_.assign(parts, 0);
    for (const Event& event : turn) ++ends_of_parts_[event.offset() >> shift];
    std::exclusive_scan(ends_of_parts_.begin(), ends_of_parts_.end(), ends_of_parts_.begin(), 0U);
    if (in_parts_.size() < turn.size()) in_parts_.resize(turn.size());
    for (const Event& event : turn) in_parts_[ends_of_parts_[event.offset() >> shift]++] = event;
    insert_each(std::span(in_parts_).first(turn.size()), turn);
  }
  /// `from` may be `to`.
  static void insert_each(std::span<const Event> from, std::span<Event> to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Event event = from[i];
      std::size_t place = i;
      for (; place > 0 && event < to[place - 1]; --place) to[place] = to[place - 1];
      to[place] = event;
    }
  }

  void put(std::uint64_t slot, Event event) {
    chunks_.put(lists_[slot], event);
    filled_[slot / 64] |= 1ULL << (slot % 64);
  }

  /// The earliest that has an event, also beyond those of the calendar.
  std::uint64_t next_slot() const {
    const std::uint64_t far = far_.empty() ? kNone : slot_of(far_.top().event.time);
    const std::uint64_t start = current_ % kSlots;
    std::uint64_t slot = first_filled(start);
    if (slot == kNone) slot = first_filled(0);
    if (slot == kNone) return far;
    return std::min(far, current_ + (slot + kSlots - start) % kSlots);
  }
  std::uint64_t first_filled(std::uint64_t from) const {
    std::uint64_t bits = filled_[from / 64] & (~0ULL << (from % 64));
    for (std::uint64_t word = from / 64; word < filled_.size(); bits = ++word < filled_.size() ? filled_[word] : 0) {
      if (bits != 0) return word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
    }
    return kNone;
  }
  void advance_to(std::uint64_t number) {
    current_ = number;
    while (!far_.empty() && slot_of(far_.top().event.time) - current_ < kSlots) {
      const Owned owned = far_.top();
      far_.pop();
      push(owned.event, owned.owner);
    }
  }

  TimePs slots_of_round_ = 1;
  TimePs length_ = 2;  ///< of a slot
  /// More would push the state of nodes and switches out of the cache that rounds are there for.
  std::size_t most_events_ = 1 << 17;
  std::uint64_t scale_ = 1ULL << 63;  ///< 2^64 / length_
  bool shorten_ = false;
  std::uint64_t current_ = 0;  ///< no event is in a slot before
  // Of the round that was taken.
  std::vector<Taken> taken_;
  TimePs begin_ = 0;
  TimePs end_ = 0;
  std::size_t events_ = 0;
  std::vector<std::uint32_t> owners_;     ///< that have any
  std::vector<std::uint32_t> events_of_;  ///< by owner: where its events begin; 0 of those that have none
  std::vector<Event> turns_;              ///< by owner, in the order of owners_, and kBehindLast more
  std::size_t next_owner_ = 0;
  // Of a turn that is being sorted.
  std::vector<std::uint32_t> ends_of_parts_;
  std::vector<Event> in_parts_;

  Chunks chunks_;
  /// The events of each slot, and when it begins.
  std::vector<Chunks::List> lists_ = std::vector<Chunks::List>(kSlots, Chunks::kEmpty);
  std::vector<TimePs> begins_ = std::vector<TimePs>(kSlots, 0);
  std::array<std::uint64_t, kSlots / 64> filled_{};
  std::priority_queue<Owned, std::vector<Owned>, std::greater<>> far_;
};

}  // namespace mrc
