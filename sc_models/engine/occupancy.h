// What every buffer of the model measures: a time-weighted occupancy histogram, mean, p99, high-water mark, time full,
// and how often it is written and read in a clock cycle.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/recorder.h"
#include "mrc/ring.h"
#include "mrc/types.h"

namespace mrc {

/// Hears of each change of a buffer's level, with the time at which it took place; calls may come late, as the model
/// itself learns of some changes late.
class LevelObserver {
 public:
  virtual ~LevelObserver() = default;
  virtual void entered(TimePs at, std::uint64_t amount) = 0;
  virtual void left(TimePs at, std::uint64_t amount) = 0;
};

/// Says that no box lists a buffer or queue.
struct Unlisted {};
inline constexpr Unlisted kUnlisted;

/// Counts accesses and the most of them in one clock cycle. Calls come in order of time.
class AccessCounter {
 public:
  void set_cycle(TimePs period_ps) { period_ps_ = period_ps; }
  void count(TimePs now) {
    ++total_;
    if (now - cycle_start_ < period_ps_) {
      ++in_cycle_;
      return;
    }
    peak_ = std::max(peak_, in_cycle_);
    cycle_start_ = now;
    in_cycle_ = 1;
  }
  std::uint64_t total() const { return total_; }
  /// Most accesses within a clock period.
  std::uint32_t peak() const { return std::max(peak_, in_cycle_); }

 private:
  TimePs period_ps_ = 1'000;
  TimePs cycle_start_ = 0;
  std::uint64_t total_ = 0;
  std::uint32_t in_cycle_ = 0;
  std::uint32_t peak_ = 0;
};

class alignas(64) Occupancy {
 public:
  /// A level up to which the buffer was filled for a share of the time.
  struct Bin {
    std::uint64_t upper = 0;  ///< highest level of the bin
    double share = 0;         ///< of the time
  };

  /// Declared by `box`. Its members keep their places, and so do its buffers.
  Occupancy(Box& box, std::string name, std::string unit, std::uint64_t capacity)
      : Occupancy(kUnlisted, std::move(name), std::move(unit), capacity) {
    box.declare(DeclaredBuffer{.occupancy = this});
  }
  Occupancy(Unlisted, std::string name, std::string unit, std::uint64_t capacity)
      : capacity_(capacity),
        histogram_(1),
        exact_levels_(static_cast<std::uint32_t>(std::min(capacity, kExactLevels - 1) + 1)),
        counts_(unit != "bytes" && unit != "credits"),
        name_(std::move(name)),
        unit_(std::move(unit)) {}

  Occupancy(const Occupancy&) = delete;
  Occupancy& operator=(const Occupancy&) = delete;

  bool fits(std::uint64_t amount) const { return level_ + amount <= capacity_; }
  std::uint64_t level() const { return level_; }
  std::uint64_t capacity() const { return capacity_; }
  const std::string& name() const { return name_; }
  const std::string& unit() const { return unit_; }

  /// Called several times for every packet in every box. Its usual path calls no other function, so that no registers
  /// are saved.
  [[gnu::noinline]] void add(TimePs now, std::uint64_t amount) {
    if (is_heard_ || !has_bin()) [[unlikely]] {
      add_heard(now, amount);
      return;
    }
    enter(now, amount);
  }
  /// `now` may lie before the last change, where a box looks at it late: the mean is put right.
  [[gnu::noinline]] void remove(TimePs now, std::uint64_t amount) {
    if (is_heard_ || !has_bin()) [[unlikely]] {
      remove_heard(now, amount);
      return;
    }
    leave(now, amount);
  }
  /// `amount` will leave at `at`, which a box may look at much later: then it calls remove_announced().
  void announce_remove(TimePs at, std::uint64_t amount) const {
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, at, -amount);
  }
  void remove_announced(TimePs at, std::uint64_t amount) { take(at, amount); }
  struct Removal {
    TimePs at = 0;
    std::uint64_t amount = 0;
  };
  /// remove_announced() for those of `announced` until `end`, which leave it.
  void remove_announced_until(TimePs end, Ring<Removal>& announced);
  /// The level is `level` from `now` on, for what is held elsewhere; a change counts as one access.
  void set(TimePs now, std::uint64_t level) {
    if (level > level_) add(now, level - level_);
    if (level < level_) remove(now, level_ - level);
  }
  /// A producer found no room at `now`; the time until the next change counts as full.
  void refuse(TimePs now) {
    close(now);
    refused_ = true;
    if (!waited_for_) ++refusals_;
    waited_for_ = true;
  }
  /// Times that a producer found no room; until something leaves, it is once.
  std::uint64_t refusals() const { return refusals_; }

  void observe(LevelObserver* observer) const {
    observer_ = observer;
    is_heard_ = observer_ != nullptr || tap_.recorder != nullptr;
  }
  void record_to(Recorder& recorder, std::uint32_t object) const {
    tap_ = {&recorder, object};
    is_heard_ = true;
  }
  const RecorderTap& tap() const { return tap_; }
  /// False where neither a recorder nor an observer is told of changes; at hand, unlike tap().
  bool is_heard() const { return is_heard_; }

  /// Over the time until `end`, or until the last change where that came later.
  double mean(TimePs end) const;
  double time_full_share(TimePs end) const;
  std::uint64_t high_water() const { return high_water_; }
  /// Level below or at which the buffer is 99 % of the time, to the upper edge of a histogram bin.
  std::uint64_t p99(TimePs end) const;
  /// Bins that were ever filled, in order; their shares sum to 1. Levels below 64 have a bin each, above that a bin is
  /// at most 1/64 of its level wide.
  std::vector<Bin> histogram(TimePs end) const;

  /// Times that entries were put in and taken out; none for a level in bytes or credits, which is not a memory.
  const AccessCounter& writes() const { return writes_; }
  const AccessCounter& reads() const { return reads_; }
  void count_cycles_of(TimePs period_ps) {
    writes_.set_cycle(period_ps);
    reads_.set_cycle(period_ps);
  }

 private:
  /// Sum of level times time, in the buffer's unit times ps: 64 bits would overflow after 0.3 s with 64 MB.
  __extension__ using LevelTime = unsigned __int128;

  static constexpr std::uint32_t kLinearBits = 6;  ///< 2^6 levels have a bin each, then 2^6 bins an octave
  static constexpr std::uint64_t kExactLevels = 1ULL << (kLinearBits + 1);  ///< so the bins up to the first two octaves

  static LevelTime product(std::uint64_t level, TimePs span) { return LevelTime{level} * span; }
  static std::size_t bin_of(std::uint64_t level) {
    if (level < kExactLevels) return static_cast<std::size_t>(level);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(level)) - kLinearBits - 1;
    return static_cast<std::size_t>((std::uint64_t{shift} << kLinearBits) + (level >> shift));
  }
  /// The level's bin is there already.
  bool has_bin() const { return bin_of(level_) < histogram_.size(); }
  [[gnu::always_inline]] void enter(TimePs now, std::uint64_t amount) {
    if (!close(now)) level_time_ += product(amount, last_ - now);
    if (counts_) writes_.count(now);
    level_ += amount;
    high_water_ = std::max(high_water_, level_);
  }
  [[gnu::always_inline]] void leave(TimePs now, std::uint64_t amount) {
    if (!close(now)) level_time_ -= product(amount, last_ - now);
    level_ -= amount;
    if (counts_) reads_.count(now);
    waited_for_ = false;
  }
  void take(TimePs now, std::uint64_t amount) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->left(now, amount);
    leave(now, amount);
  }
  [[gnu::noinline]] void add_heard(TimePs now, std::uint64_t amount) {
    if (observer_ != nullptr) observer_->entered(now, amount);
    enter(now, amount);
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, now, amount);
  }
  [[gnu::noinline]] void remove_heard(TimePs now, std::uint64_t amount) {
    take(now, amount);
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, now, -amount);
  }
  static std::uint64_t upper_edge(std::size_t bin) {
    if (bin < kExactLevels) return bin;
    const std::uint64_t shift = (bin >> kLinearBits) - 1;
    const std::uint64_t mantissa = bin - (shift << kLinearBits);
    return ((mantissa + 1) << shift) - 1;
  }
  std::vector<TimePs> closed_histogram(TimePs end) const;
  std::size_t bin_of_full_buffer() const { return bin_of(capacity_); }
  /// There is a bin for what the buffer ever held; the last is also that of levels above the capacity. Returns the bin.
  [[gnu::cold, gnu::noinline]] std::size_t add_bin(std::size_t bin);

  /// False where `now` is not later than the last change. Called several times per packet and box.
  [[gnu::always_inline]] bool close(TimePs now) {
    if (now <= last_) {
      refused_ = false;
      return false;
    }
    const TimePs span = now - last_;
    std::size_t bin = bin_of(level_);
    if (bin >= histogram_.size()) [[unlikely]]
      bin = add_bin(bin);
    histogram_[bin] += span;
    if (refused_) [[unlikely]] {
      if (level_ < capacity_) full_time_ += span;
      refused_ = false;
    }
    if (level_ >= exact_levels_) {
      // A level above the capacity is in the bin of the capacity.
      level_time_ += product(full_has_bin() ? level_ - capacity_ : level_, span);
      if (level_ >= capacity_ && !full_has_bin()) full_time_ += span;
    }
    last_ = now;
    return true;
  }
  /// The time with a full buffer is that of its last bin.
  bool full_has_bin() const { return capacity_ < kExactLevels; }
  /// Level times time until the last change.
  LevelTime level_time() const;

  // What each change looks at comes first: a cache line, and one of the accesses.
  std::uint64_t level_ = 0;
  TimePs last_ = 0;  ///< change
  std::uint64_t capacity_;
  std::uint64_t high_water_ = 0;
  std::vector<TimePs> histogram_;  ///< time in each bin, up to the highest so far
  std::uint32_t exact_levels_;     ///< that many have a bin that says all of them
  bool refused_ = false;           ///< since the last change
  bool waited_for_ = false;        ///< a refusal since something left last
  bool counts_;
  mutable bool is_heard_ = false;  ///< an observer or a recorder is told of changes
  AccessCounter writes_;
  AccessCounter reads_;
  LevelTime level_time_ = 0;  ///< of levels that no bin says, and what changes that came late have to put right
  TimePs full_time_ = 0;      ///< that the last bin does not say
  mutable LevelObserver* observer_ = nullptr;
  mutable RecorderTap tap_;
  std::uint64_t refusals_ = 0;
  std::string name_;
  std::string unit_;
};

}  // namespace mrc
