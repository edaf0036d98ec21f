// The fabric's events where nodes and switches take turns (see Network::run_in_turns()): a round of them at a time. A
// round is at most as long as what one of them does takes to act on another, so that nothing that happens in it makes
// anything happen to another in it. Rounds become shorter where many events are in one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "fabric/event_chunks.h"
#include "fabric/event_queue.h"
#include "mrc/types.h"

namespace mrc {

class RoundQueue {
 public:
  /// An event in its round.
  struct Event {
    std::uint32_t offset = 0;  ///< ps since the round began
    std::uint32_t about = 0;   ///< kind, then target
    std::uint32_t payload = 0;

    Event() = default;
    Event(TimePs begin, const FabricEvent& event)
        : offset(static_cast<std::uint32_t>(event.time - begin)),
          about(static_cast<std::uint32_t>(event.kind) << 24 | event.target),
          payload(event.payload) {}
    FabricEvent at(TimePs begin) const {
      return {begin + offset, static_cast<FabricEventKind>(about >> 24), about & (FabricEventQueue::kMostTargets - 1),
              payload};
    }
    /// As in FabricEventQueue; only what is alike in all shares a place.
    friend bool operator<(const Event& a, const Event& b) { return a.order() < b.order(); }

   private:
    std::uint64_t order() const { return std::uint64_t{offset} << 32 | about; }
  };

  /// Rounds of at most `longest` ps, which is 2 or more. There are no events.
  void set_longest(TimePs longest) {
    set_length(std::min<TimePs>(longest, 0x7FFF'FFFF));
    current_ = 0;
  }

  /// Rounds become shorter where one has more. Affects only the run time.
  void set_most_events(std::size_t events) { most_events_ = events; }

  /// `time` is not before the horizon of the take() before, nor before the end of the round that it took from.
  void push(const FabricEvent& event) {
    const std::uint64_t round = round_of(event.time);
    if (round - current_ >= kRounds) [[unlikely]] {
      far_.push(event);
      return;
    }
    const std::uint64_t slot = round % kRounds;
    if (rounds_[slot] == Chunks::kEmpty) begins_[slot] = begin_of(round);
    put(slot, Event(begins_[slot], event));
  }

  /// Of the earliest round, what is due before `horizon`, in order of time; the round's begin, and the end of what was
  /// taken. False without any.
  bool take(TimePs horizon, std::vector<Event>& events, TimePs& begin, TimePs& end) {
    const std::uint64_t round = next_round();
    if (round == kNone || begin_of(round) >= horizon) return false;
    advance_to(round);
    const std::uint64_t slot = round % kRounds;
    begin = begins_[slot];
    end = std::min(begin_of(round + 1), horizon);
    const auto due = static_cast<std::uint32_t>(end - begin);
    const Chunks::List list = std::exchange(rounds_[slot], Chunks::kEmpty);
    filled_[slot / 64] &= ~(1ULL << (slot % 64));
    taken_.clear();
    chunks_.for_each(list, [&](Event event) {
      if (event.offset < due)
        taken_.push_back(event);
      else
        put(slot, event);
    });
    chunks_.release(list);
    sort_into(events, due);
    shorten_ = events.size() > most_events_ && length_ > 2;
    return !events.empty();
  }

  /// Time of the earliest event, kNever without one.
  TimePs next_time() const {
    const std::uint64_t round = next_round();
    if (round == kNone) return kNever;
    TimePs first = far_.empty() ? kNever : far_.top().time;
    const std::uint64_t slot = round % kRounds;
    chunks_.for_each(rounds_[slot], [&](Event event) { first = std::min(first, begins_[slot] + event.offset); });
    return first;
  }

  /// Takes all out.
  std::vector<FabricEvent> take_all() {
    std::vector<FabricEvent> all;
    for (std::uint64_t slot = 0; slot < kRounds; ++slot) {
      const Chunks::List list = std::exchange(rounds_[slot], Chunks::kEmpty);
      chunks_.for_each(list, [&](Event event) { all.push_back(event.at(begins_[slot])); });
      chunks_.release(list);
    }
    filled_ = {};
    for (; !far_.empty(); far_.pop()) all.push_back(far_.top());
    return all;
  }

  /// Makes rounds shorter where the last had too many events. Between rounds.
  void fit(TimePs now) {
    if (!std::exchange(shorten_, false)) return;
    const std::vector<FabricEvent> all = take_all();
    set_length((length_ + 1) / 2);
    current_ = round_of(now);
    for (const FabricEvent& event : all) push(event);
  }

 private:
  static constexpr std::uint64_t kRounds = 4'096;
  static constexpr std::uint64_t kNone = ~0ULL;
  // How a round is sorted: these numbers affect only the run time.
  static constexpr std::size_t kEventsOfPart = 4;
  static constexpr std::size_t kMostParts = 1 << 14;

  using Chunks = EventChunks<Event, 21>;
  __extension__ using Wide = unsigned __int128;
  void set_length(TimePs length) {
    length_ = length;
    // Rounded up: two times that are `length` apart are never in one round.
    scale_ = static_cast<std::uint64_t>(((Wide{1} << 64) + length - 1) / length);
  }
  std::uint64_t round_of(TimePs time) const { return static_cast<std::uint64_t>(Wide{time} * scale_ >> 64); }
  TimePs begin_of(std::uint64_t round) const {
    return static_cast<TimePs>(((Wide{round} << 64) + scale_ - 1) / scale_);
  }

  /// What was taken: into parts by the first bits of the time, without unpredictable branches, then each part, which is
  /// short.
  void sort_into(std::vector<Event>& events, std::uint32_t due) {
    const std::size_t parts = std::min(std::bit_ceil(taken_.size() / kEventsOfPart + 1), kMostParts);
    const int shift = std::max(0, static_cast<int>(std::bit_width(due - 1)) - std::countr_zero(parts));
    ends_of_parts_.assign(parts, 0);
    for (const Event& event : taken_) ++ends_of_parts_[event.offset >> shift];
    std::exclusive_scan(ends_of_parts_.begin(), ends_of_parts_.end(), ends_of_parts_.begin(), 0U);
    events.resize(taken_.size());
    for (const Event& event : taken_) events[ends_of_parts_[event.offset >> shift]++] = event;
    auto first = events.begin();
    for (const std::uint32_t end : ends_of_parts_) {
      const auto last = events.begin() + end;
      if (last - first > 1) std::sort(first, last);
      first = last;
    }
  }

  void put(std::uint64_t slot, Event event) {
    chunks_.put(rounds_[slot], event);
    filled_[slot / 64] |= 1ULL << (slot % 64);
  }

  /// The earliest that has an event, also beyond those of the calendar.
  std::uint64_t next_round() const {
    const std::uint64_t far = far_.empty() ? kNone : round_of(far_.top().time);
    const std::uint64_t start = current_ % kRounds;
    std::uint64_t slot = first_filled(start);
    if (slot == kNone) slot = first_filled(0);
    if (slot == kNone) return far;
    return std::min(far, current_ + (slot + kRounds - start) % kRounds);
  }
  std::uint64_t first_filled(std::uint64_t from) const {
    std::uint64_t bits = filled_[from / 64] & (~0ULL << (from % 64));
    for (std::uint64_t word = from / 64; word < filled_.size(); bits = ++word < filled_.size() ? filled_[word] : 0) {
      if (bits != 0) return word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
    }
    return kNone;
  }
  void advance_to(std::uint64_t round) {
    current_ = round;
    while (!far_.empty() && round_of(far_.top().time) - current_ < kRounds) {
      const FabricEvent event = far_.top();
      far_.pop();
      push(event);
    }
  }

  TimePs length_ = 2;
  /// More would push the state of nodes and switches out of the cache that rounds are there for.
  std::size_t most_events_ = 1 << 17;
  std::uint64_t scale_ = 1ULL << 63;  ///< 2^64 / length_
  bool shorten_ = false;
  std::uint64_t current_ = 0;  ///< no event is in a round before
  std::vector<Event> taken_;
  std::vector<std::uint32_t> ends_of_parts_;
  Chunks chunks_;
  /// The events of each round, and when it begins, by slot.
  std::vector<Chunks::List> rounds_ = std::vector<Chunks::List>(kRounds, Chunks::kEmpty);
  std::vector<TimePs> begins_ = std::vector<TimePs>(kRounds, 0);
  std::array<std::uint64_t, kRounds / 64> filled_{};
  std::priority_queue<FabricEvent, std::vector<FabricEvent>, std::greater<>> far_;
};

}  // namespace mrc
