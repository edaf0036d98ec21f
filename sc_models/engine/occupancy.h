// What every buffer of the model measures: a time-weighted occupancy histogram, mean, p99, high-water mark, time full.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "engine/recorder.h"
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

class Occupancy {
 public:
  static constexpr std::size_t kBins = 64;

  Occupancy(std::string name, std::string unit, std::uint64_t capacity)
      : name_(std::move(name)), unit_(std::move(unit)), capacity_(capacity) {}

  bool fits(std::uint64_t amount) const { return level_ + amount <= capacity_; }
  std::uint64_t level() const { return level_; }
  std::uint64_t capacity() const { return capacity_; }
  const std::string& name() const { return name_; }
  const std::string& unit() const { return unit_; }

  void add(TimePs now, std::uint64_t amount) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->entered(now, amount);
    if (!close(now)) level_time_ += static_cast<double>(amount) * static_cast<double>(last_ - now);
    level_ += amount;
    high_water_ = std::max(high_water_, level_);
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, now, amount);
  }
  /// `now` may lie before the last change, where a box looks at it late: the mean is put right.
  void remove(TimePs now, std::uint64_t amount) {
    take(now, amount);
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, now, -amount);
  }
  /// `amount` will leave at `at`, which a box may look at much later: then it calls remove_announced().
  void announce_remove(TimePs at, std::uint64_t amount) const {
    if (tap_.recorder != nullptr) tap_.recorder->level(tap_.object, at, -amount);
  }
  void remove_announced(TimePs at, std::uint64_t amount) { take(at, amount); }
  /// A producer found no room at `now`; the time until the next change counts as full.
  void refuse(TimePs now) {
    close(now);
    refused_ = true;
  }

  void observe(LevelObserver* observer) const { observer_ = observer; }
  void record_to(Recorder& recorder, std::uint32_t object) const { tap_ = {&recorder, object}; }
  const RecorderTap& tap() const { return tap_; }

  /// Over the time until `end`, or until the last change where that came later.
  double mean(TimePs end) const;
  double time_full_share(TimePs end) const;
  std::uint64_t high_water() const { return high_water_; }
  /// Level below or at which the buffer is 99 % of the time, to the upper edge of a histogram bin.
  std::uint64_t p99(TimePs end) const;
  /// Time in each of the bins; bin i covers levels i*capacity/63 rounded down.
  const std::array<TimePs, kBins>& histogram() const { return histogram_; }

 private:
  std::size_t bin(std::uint64_t level) const {
    return capacity_ == 0 ? 0 : std::min<std::size_t>(kBins - 1, level * (kBins - 1) / capacity_);
  }
  void take(TimePs now, std::uint64_t amount) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->left(now, amount);
    if (!close(now)) level_time_ -= static_cast<double>(amount) * static_cast<double>(last_ - now);
    level_ -= amount;
  }
  /// False where `now` is not later than the last change.
  bool close(TimePs now) {
    if (now <= last_) {
      refused_ = false;
      return false;
    }
    const TimePs span = now - last_;
    histogram_[bin(level_)] += span;
    level_time_ += static_cast<double>(level_) * static_cast<double>(span);
    if (refused_ || level_ >= capacity_) full_time_ += span;
    refused_ = false;
    last_ = now;
    return true;
  }

  std::string name_;
  std::string unit_;
  std::uint64_t capacity_;
  std::uint64_t level_ = 0;
  std::uint64_t high_water_ = 0;
  TimePs last_ = 0;
  TimePs full_time_ = 0;
  double level_time_ = 0;
  bool refused_ = false;
  mutable LevelObserver* observer_ = nullptr;
  mutable RecorderTap tap_;
  std::array<TimePs, kBins> histogram_{};
};

}  // namespace mrc
