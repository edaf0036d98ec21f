// The fabric's events in order of time: a calendar of short buckets for the near future, a heap for the rest. An event
// is one 64-bit word in its bucket, and a bucket is sorted once, when its time comes. Ties in time go by kind, target
// and payload, which are unique at any time, so the order does not depend on the order of scheduling. Buckets become
// longer where few events are in one, and shorter where many are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <compare>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "fabric/event_chunks.h"
#include "mrc/types.h"

namespace mrc {

/// In the order in which they happen at one instant: what arrives, then what a free port sends, then timers, then
/// rates.
enum class FabricEventKind : std::uint8_t { arrival, service, timer, rate_change };

struct FabricEvent {
  TimePs time = 0;
  FabricEventKind kind = FabricEventKind::arrival;
  std::uint32_t target = 0;   ///< link or node, below 2^24; 0 of a rate change
  std::uint32_t payload = 0;  ///< below 2^24; of a rate change its number

  friend auto operator<=>(const FabricEvent&, const FabricEvent&) = default;
};

class FabricEventQueue {
 public:
  static constexpr std::uint32_t kMostTargets = 1U << 24;
  static constexpr std::uint32_t kMostPayloads = 1U << 24;

  /// `time` is not before that of the event popped last, nor before the horizon of the pop that found nothing.
  void push(TimePs time, FabricEventKind kind, std::uint32_t target, std::uint32_t payload = 0) {
    const std::uint64_t rest =
        static_cast<std::uint64_t>(kind) << 48 | static_cast<std::uint64_t>(target) << 24 | payload;
    ++size_;
    insert(time, rest);
  }

  /// Takes the earliest event, if it is due before `horizon`.
  [[gnu::always_inline]] bool pop_before(TimePs horizon, FabricEvent& event) {
    while (next_ == now_.size()) {
      if (!open_next(horizon)) return false;
    }
    event = event_of(now_[next_]);
    if (event.time >= horizon) return false;
    ++next_;
    --size_;
    return true;
  }
  /// The event `ahead` places after the next one at present; false if it is in another bucket.
  bool peek(std::size_t ahead, FabricEvent& event) const {
    if (next_ + ahead >= now_.size()) return false;
    event = event_of(now_[next_ + ahead]);
    return true;
  }

  /// Time of the earliest event, kNever without one.
  TimePs next_time() const {
    if (next_ < now_.size()) return event_of(now_[next_]).time;
    const std::uint64_t bucket = next_bucket();
    const TimePs far = far_.empty() ? kNever : far_.top().first;
    if (bucket == kNoBucket) return far;
    std::uint64_t first = ~0ULL;
    chunks_.for_each(buckets_[bucket % kBuckets], [&](std::uint64_t word) { first = std::min(first, word); });
    return std::min(far, static_cast<TimePs>((bucket << bits_) + (first >> kOffsetShift)));
  }
  std::uint64_t size() const { return size_; }

 private:
  using Chunks = EventChunks<std::uint64_t, 31>;
  // A word is the time in its bucket, then kind, target and payload.
  static constexpr unsigned kOffsetShift = 50;
  static constexpr unsigned kLeastBits = 10;  ///< of a time in a bucket, which is 1,024 ps at least
  static constexpr unsigned kMostBits = 14;
  static constexpr unsigned kPartBits = 6;  ///< of a time in a bucket, by which it is sorted first
  static_assert(kOffsetShift + kMostBits == 64 && kPartBits <= kLeastBits);
  static constexpr std::uint64_t kRest = (1ULL << kOffsetShift) - 1;
  static constexpr std::uint64_t kBuckets = 16'384;  ///< 16.8 us of the shortest
  // Buckets are made longer or shorter where fewer or more events than these were in one when it was opened, on average
  // over as many buckets at least. These numbers affect only the run time.
  static constexpr std::uint64_t kFewEvents = 16;
  static constexpr std::uint64_t kManyEvents = 64;
  static constexpr std::uint64_t kBucketsWatched = 256;
  static constexpr std::uint64_t kNoBucket = ~0ULL;
  static constexpr std::size_t kWords = kBuckets / 64;

  /// Of a word in the current bucket.
  FabricEvent event_of(std::uint64_t word) const {
    return {(current_ << bits_) + (word >> kOffsetShift), static_cast<FabricEventKind>(word >> 48 & 3),
            static_cast<std::uint32_t>(word >> 24) & (kMostTargets - 1),
            static_cast<std::uint32_t>(word) & (kMostPayloads - 1)};
  }
  /// `rest`: of the event's word.
  void insert(TimePs time, std::uint64_t rest) {
    const std::uint64_t bucket = time >> bits_;
    const std::uint64_t word = (time - (bucket << bits_)) << kOffsetShift | rest;
    if (bucket - current_ - 1 < kBuckets - 1) [[likely]] {
      put(bucket, word);
    } else {
      insert_elsewhere(time, word);
    }
  }
  /// Into the bucket that is being served, or beyond the calendar.
  [[gnu::noinline]] void insert_elsewhere(TimePs time, std::uint64_t word) {
    if (time >> bits_ > current_) {
      far_.push({time, word & kRest});
      return;
    }
    assert(time >> bits_ == current_);
    now_.insert(std::upper_bound(now_.begin() + static_cast<std::ptrdiff_t>(next_), now_.end(), word), word);
  }
  void put(std::uint64_t bucket, std::uint64_t word) {
    const std::uint64_t slot = bucket % kBuckets;
    chunks_.put(buckets_[slot], word);
    filled_[slot / 64] |= 1ULL << (slot % 64);
    filled_words_[slot / 4096] |= 1ULL << (slot / 64 % 64);
  }

  /// First filled bucket after the current one.
  std::uint64_t next_bucket() const {
    const std::uint64_t start = (current_ + 1) % kBuckets;
    const std::uint64_t slot = first_filled(start);
    if (slot != kNoBucket) return current_ + 1 + (slot - start);
    const std::uint64_t wrapped = first_filled(0);
    if (wrapped == kNoBucket) return kNoBucket;
    return current_ + 1 + (kBuckets - start + wrapped);
  }
  std::uint64_t first_filled(std::uint64_t from) const {
    std::size_t word = from / 64;
    if (const std::uint64_t bits = filled_[word] & (~0ULL << (from % 64))) return word * 64 + std::countr_zero(bits);
    ++word;
    while (word < kWords) {
      const std::uint64_t words = filled_words_[word / 64] & (~0ULL << (word % 64));
      if (words == 0) {
        word = (word / 64 + 1) * 64;
        continue;
      }
      word = word / 64 * 64 + static_cast<std::size_t>(std::countr_zero(words));
      return word * 64 + static_cast<std::uint64_t>(std::countr_zero(filled_[word]));
    }
    return kNoBucket;
  }

  /// Makes the next bucket that begins before `horizon` the current one; false without one.
  bool open_next(TimePs horizon) {
    if (buckets_seen_ >= kBucketsWatched && events_seen_ >= size_) [[unlikely]] {
      fit_buckets();
      if (!now_.empty()) return true;
    }
    std::uint64_t bucket = next_bucket();
    if (!far_.empty()) bucket = std::min(bucket, far_.top().first >> bits_);
    if (bucket == kNoBucket || bucket << bits_ >= horizon) return false;
    current_ = bucket;
    next_ = 0;
    const std::uint64_t slot = bucket % kBuckets;
    serve(slot);
    filled_[slot / 64] &= ~(1ULL << (slot % 64));
    if (filled_[slot / 64] == 0) filled_words_[slot / 4096] &= ~(1ULL << (slot / 64 % 64));
    while (!far_.empty() && (far_.top().first >> bits_) - current_ < kBuckets) {
      const auto [time, rest] = far_.top();
      far_.pop();
      insert(time, rest);
    }
    ++buckets_seen_;
    events_seen_ += now_.size();
    return true;
  }
  /// Makes buckets longer or shorter where they hold too few or too many. Precondition: no event is in the current one.
  [[gnu::cold, gnu::noinline]] void fit_buckets() {
    const std::uint64_t mean = events_seen_ / buckets_seen_;
    buckets_seen_ = events_seen_ = 0;
    const unsigned bits = mean < kFewEvents    ? std::min(bits_ + 1, kMostBits)
                          : mean > kManyEvents ? std::max(bits_ - 1, kLeastBits)
                                               : bits_;
    now_.clear();
    next_ = 0;
    if (bits == bits_) return;
    std::vector<Far> all;
    for (std::uint64_t bucket = current_ + 1; bucket < current_ + kBuckets; ++bucket) {
      chunks_.for_each(buckets_[bucket % kBuckets], [&](std::uint64_t word) {
        all.push_back({(bucket << bits_) + (word >> kOffsetShift), word & kRest});
      });
    }
    std::fill(buckets_.begin(), buckets_.end(), Chunks::kEmpty);
    filled_ = {};
    filled_words_ = {};
    chunks_.release_all();
    current_ = (current_ << bits_) >> bits;
    bits_ = bits;
    for (const auto& [time, rest] : all) insert(time, rest);
  }
  /// Sorts a bucket's events into now_ and empties it.
  void serve(std::uint64_t slot) {
    constexpr std::size_t few = 16;
    const Chunks::List list = buckets_[slot];
    if (list == Chunks::kEmpty) {  // its events are all from beyond the calendar
      now_.clear();
      return;
    }
    if (const auto words = chunks_.in_one_chunk(list); !words.empty() && words.size() <= few) {
      now_.assign(words.begin(), words.end());
      if (now_.size() > 1) std::sort(now_.begin(), now_.end());
    } else {
      sort_in_parts(list);
    }
    chunks_.release(list);
    buckets_[slot] = Chunks::kEmpty;
  }
  /// Into parts by the first bits of the time, without unpredictable branches, then each part, which is usually short.
  [[gnu::noinline]] void sort_in_parts(std::uint32_t list) {
    std::array<std::uint32_t, 1U << kPartBits> ends{};
    const unsigned shift = kOffsetShift + bits_ - kPartBits;
    std::uint32_t count = 0;
    chunks_.for_each(list, [&](std::uint64_t word) {
      ++ends[word >> shift];
      ++count;
    });
    now_.resize(count);
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0U);
    chunks_.for_each(list, [&](std::uint64_t word) { now_[ends[word >> shift]++] = word; });
    std::uint32_t first = 0;
    for (const std::uint32_t end : ends) {
      if (end - first > 1) std::sort(now_.begin() + first, now_.begin() + end);
      first = end;
    }
  }

  using Far = std::pair<TimePs, std::uint64_t>;  ///< with the word below the time

  unsigned bits_ = kLeastBits;      ///< of a time within a bucket
  std::uint64_t current_ = 0;       ///< bucket that is being served
  std::vector<std::uint64_t> now_;  ///< its events, sorted
  std::size_t next_ = 0;            ///< of now_
  std::uint64_t size_ = 0;
  Chunks chunks_;
  std::vector<Chunks::List> buckets_ = std::vector<Chunks::List>(kBuckets, Chunks::kEmpty);  ///< by slot
  std::array<std::uint64_t, kWords> filled_{};
  std::array<std::uint64_t, kWords / 64> filled_words_{};
  std::uint64_t buckets_seen_ = 0;  ///< that were served since buckets were looked at
  std::uint64_t events_seen_ = 0;   ///< in them
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
};

}  // namespace mrc
