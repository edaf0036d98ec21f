// How long a run still takes, by what its first seconds took on this machine.
#pragma once

#include <chrono>
#include <optional>

namespace mrc {

class ExpectedTime {
 public:
  using Clock = std::chrono::steady_clock;

  /// So long a run goes on before something is said: before, start-up weighs too much.
  static constexpr double kMeasuredSeconds = 3;

  explicit ExpectedTime(Clock::time_point start = Clock::now()) : start_(start) {}

  /// Once, after the first seconds: what the rest takes if it goes on as it began. `share` of the work is done, 0 … 1.
  std::optional<double> seconds_left(double share, Clock::time_point now = Clock::now()) {
    if (said_ || share <= 0) return std::nullopt;
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    if (elapsed < kMeasuredSeconds) return std::nullopt;
    said_ = true;
    if (share >= 1) return std::nullopt;
    return elapsed * (1 - share) / share;
  }

 private:
  Clock::time_point start_;
  bool said_ = false;
};

}  // namespace mrc
