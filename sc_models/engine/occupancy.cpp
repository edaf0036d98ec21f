#include "engine/occupancy.h"

namespace mrc {

double Occupancy::mean(TimePs end) const {
  const TimePs until = std::max(end, last_);
  if (until == 0) return 0;
  const double open = static_cast<double>(level_) * static_cast<double>(until - last_);
  return (level_time_ + open) / static_cast<double>(until);
}

double Occupancy::time_full_share(TimePs end) const {
  if (end == 0) return 0;
  const TimePs open = end > last_ && (refused_ || level_ >= capacity_) ? end - last_ : 0;
  return static_cast<double>(full_time_ + open) / static_cast<double>(end);
}

std::uint64_t Occupancy::p99(TimePs end) const {
  std::array<TimePs, kBins> bins = histogram_;
  if (end > last_) bins[bin(level_)] += end - last_;
  TimePs total = 0;
  for (const TimePs time : bins) total += time;
  const auto limit = static_cast<TimePs>(0.99 * static_cast<double>(total));
  TimePs seen = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    seen += bins[i];
    if (seen < limit || seen == 0) continue;
    const std::uint64_t upper = ((i + 1) * capacity_ + kBins - 2) / (kBins - 1);
    return std::min({upper, high_water_, capacity_});
  }
  return high_water_;
}

}  // namespace mrc
