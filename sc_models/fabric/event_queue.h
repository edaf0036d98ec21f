// The fabric's events in order of time: a calendar of short buckets for the near future, a heap for the rest. An event
// is one 64-bit word in its bucket, and a bucket is sorted once, when its time comes. Ties in time go by kind and
// target, which are unique at any time, so the order does not depend on the order of scheduling.
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

#include "mrc/types.h"

namespace mrc {

/// In the order in which they happen at one instant: what arrives, then what a free port sends, then timers, then
/// rates.
enum class FabricEventKind : std::uint8_t { arrival, service, timer, rate_change };

struct FabricEvent {
  TimePs time = 0;
  FabricEventKind kind = FabricEventKind::arrival;
  std::uint32_t target = 0;   ///< link or node, below 2^28
  std::uint32_t payload = 0;  ///< below 2^24
};

class FabricEventQueue {
 public:
  static constexpr std::uint32_t kMostTargets = 1U << 28;
  static constexpr std::uint32_t kMostPayloads = 1U << 24;

  /// `time` is not before that of the event popped last, nor before the horizon of the pop that found nothing.
  void push(TimePs time, FabricEventKind kind, std::uint32_t target, std::uint32_t payload = 0) {
    const std::uint64_t word = (time & kOffsetMask) << 54 | static_cast<std::uint64_t>(kind) << 52 |
                               static_cast<std::uint64_t>(target) << 24 | payload;
    ++size_;
    const std::uint64_t bucket = time >> kBucketBits;
    if (bucket - current_ - 1 < kBuckets - 1) [[likely]] {
      put(bucket, word);
    } else {
      push_elsewhere(time, word);
    }
  }

  /// Takes the earliest event, if it is due before `horizon`.
  bool pop_before(TimePs horizon, FabricEvent& event) {
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
    if (next_ < now_.size()) return current_ << kBucketBits | now_[next_] >> 54;
    const std::uint64_t bucket = next_bucket();
    const TimePs far = far_.empty() ? kNever : far_.top().first;
    if (bucket == kNoBucket) return far;
    std::uint64_t first = ~0ULL;
    for_each_word(bucket % kBuckets, [&](std::uint64_t word) { first = std::min(first, word); });
    return std::min(far, static_cast<TimePs>(bucket << kBucketBits | first >> 54));
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr unsigned kBucketBits = 10;  ///< 1,024 ps per bucket
  static constexpr std::uint64_t kOffsetMask = (1ULL << kBucketBits) - 1;
  static constexpr std::uint64_t kBuckets = 16'384;  ///< 16.8 us
  static constexpr std::uint64_t kNoBucket = ~0ULL;
  static constexpr std::uint32_t kNoChunk = 0xFFFF'FFFF;
  static constexpr unsigned kPartBits = 6;  ///< of a word, by which a bucket is sorted first
  static constexpr std::size_t kWords = kBuckets / 64;

  /// Of a word in the current bucket.
  FabricEvent event_of(std::uint64_t word) const {
    return {current_ << kBucketBits | word >> 54, static_cast<FabricEventKind>(word >> 52 & 3),
            static_cast<std::uint32_t>(word >> 24) & (kMostTargets - 1),
            static_cast<std::uint32_t>(word) & (kMostPayloads - 1)};
  }
  /// Into the bucket that is being served, or beyond the calendar.
  [[gnu::noinline]] void push_elsewhere(TimePs time, std::uint64_t word) {
    if (time >> kBucketBits > current_) {
      far_.push({time, word});
      return;
    }
    assert(time >> kBucketBits == current_);
    now_.insert(std::upper_bound(now_.begin() + static_cast<std::ptrdiff_t>(next_), now_.end(), word), word);
  }
  void put(std::uint64_t bucket, std::uint64_t word) {
    const std::uint64_t slot = bucket % kBuckets;
    std::uint32_t& last = buckets_[slot];
    if (last == kNoChunk || chunks_[last].count == Chunk::kWords) last = new_chunk(last);
    Chunk& chunk = chunks_[last];
    chunk.words[chunk.count++] = word;
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
    std::uint64_t bucket = next_bucket();
    if (!far_.empty()) bucket = std::min(bucket, far_.top().first >> kBucketBits);
    if (bucket == kNoBucket || bucket << kBucketBits >= horizon) return false;
    current_ = bucket;
    next_ = 0;
    const std::uint64_t slot = bucket % kBuckets;
    serve(slot);
    filled_[slot / 64] &= ~(1ULL << (slot % 64));
    if (filled_[slot / 64] == 0) filled_words_[slot / 4096] &= ~(1ULL << (slot / 64 % 64));
    while (!far_.empty() && (far_.top().first >> kBucketBits) - current_ < kBuckets) {
      const auto [time, word] = far_.top();
      far_.pop();
      if (time >> kBucketBits == current_) {
        push_elsewhere(time, word);
      } else {
        put(time >> kBucketBits, word);
      }
    }
    return true;
  }
  /// Sorts a bucket's events into now_ and empties it.
  void serve(std::uint64_t slot) {
    constexpr std::size_t few = 16;
    now_.clear();
    for (std::uint32_t at = buckets_[slot]; at != kNoChunk && now_.size() <= few; at = chunks_[at].before) {
      const Chunk& chunk = chunks_[at];
      now_.insert(now_.end(), chunk.words.begin(), chunk.words.begin() + chunk.count);
    }
    if (now_.size() > few) {
      sort_in_parts(slot);
    } else if (now_.size() > 1) {
      std::sort(now_.begin(), now_.end());
    }
    free_chunks(slot);
  }
  /// Into parts by the first bits of the time, without unpredictable branches, then each part, which is usually short.
  [[gnu::noinline]] void sort_in_parts(std::uint64_t slot) {
    std::array<std::uint32_t, 1U << kPartBits> ends{};
    std::uint32_t count = 0;
    for_each_word(slot, [&](std::uint64_t word) {
      ++ends[word >> (64 - kPartBits)];
      ++count;
    });
    now_.resize(count);
    std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), 0U);
    for_each_word(slot, [&](std::uint64_t word) { now_[ends[word >> (64 - kPartBits)]++] = word; });
    std::uint32_t first = 0;
    for (const std::uint32_t end : ends) {
      if (end - first > 1) std::sort(now_.begin() + first, now_.begin() + end);
      first = end;
    }
  }

  /// Seven events of a bucket, a cache line. Buckets share a pool of them, so that the memory of past events is reused
  /// while it is still in the cache.
  struct alignas(64) Chunk {
    static constexpr std::uint32_t kWords = 7;
    std::array<std::uint64_t, kWords> words;
    std::uint32_t count = 0;
    std::uint32_t before = 0;  ///< the chunk of the bucket that was filled before; kNoChunk for none
  };

  std::uint32_t new_chunk(std::uint32_t before) {
    if (free_ == kNoChunk) {
      free_ = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back().before = kNoChunk;
    }
    const std::uint32_t chunk = std::exchange(free_, chunks_[free_].before);
    chunks_[chunk].count = 0;
    chunks_[chunk].before = before;
    return chunk;
  }
  void free_chunks(std::uint64_t slot) {
    for (std::uint32_t chunk = std::exchange(buckets_[slot], kNoChunk); chunk != kNoChunk;) {
      const std::uint32_t before = std::exchange(chunks_[chunk].before, free_);
      free_ = chunk;
      chunk = before;
    }
  }
  template <typename Visit>
  void for_each_word(std::uint64_t slot, Visit visit) const {
    for (std::uint32_t at = buckets_[slot]; at != kNoChunk; at = chunks_[at].before) {
      const Chunk& chunk = chunks_[at];
      for (std::uint32_t i = 0; i < chunk.count; ++i) visit(chunk.words[i]);
    }
  }

  using Far = std::pair<TimePs, std::uint64_t>;

  std::uint64_t current_ = 0;       ///< bucket that is being served
  std::vector<std::uint64_t> now_;  ///< its events, sorted
  std::size_t next_ = 0;            ///< of now_
  std::uint64_t size_ = 0;
  std::vector<Chunk> chunks_;
  std::uint32_t free_ = kNoChunk;  ///< the first free chunk
  /// The chunk of each bucket that is being filled.
  std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(kBuckets, kNoChunk);
  std::array<std::uint64_t, kWords> filled_{};
  std::array<std::uint64_t, kWords / 64> filled_words_{};
  std::priority_queue<Far, std::vector<Far>, std::greater<>> far_;
};

}  // namespace mrc
