#include "engine/occupancy.h"

#include <numeric>

namespace mrc {

double Occupancy::mean(TimePs end) const {
  const TimePs until = std::max(end, last_);
  if (until == 0) return 0;
  return static_cast<double>(level_time() + product(level_, until - last_)) / static_cast<double>(until);
}

Occupancy::LevelTime Occupancy::level_time() const {
  LevelTime sum = level_time_;
  const std::size_t exact = std::min<std::size_t>(exact_levels_, histogram_.size());
  for (std::size_t level = 0; level < exact; ++level) sum += product(level, histogram_[level]);
  return sum;
}

double Occupancy::time_full_share(TimePs end) const {
  if (end == 0) return 0;
  const TimePs open = end > last_ && (refused_ || level_ >= capacity_) ? end - last_ : 0;
  const std::size_t full = bin_of_full_buffer();
  const TimePs binned = full_has_bin() && histogram_.size() > full ? histogram_[full] : 0;
  return static_cast<double>(full_time_ + binned + open) / static_cast<double>(end);
}

std::vector<TimePs> Occupancy::closed_histogram(TimePs end) const {
  std::vector<TimePs> bins = histogram_;
  if (end <= last_) return bins;
  const std::size_t bin = std::min(bin_of(level_), bin_of_full_buffer());
  bins.resize(std::max(bins.size(), bin + 1));
  bins[bin] += end - last_;
  return bins;
}

std::size_t Occupancy::add_bin(std::size_t bin) {
  bin = std::min(bin, bin_of_full_buffer());
  if (bin >= histogram_.size()) histogram_.resize(bin + 1);
  return bin;
}

void Occupancy::remove_announced_until(TimePs end, Ring<Removal>& announced) {
  if (announced.empty() || announced.front().at > end) return;
  // The first may come late, or find a bin missing: the rest are in order of time, and go down from a level with a bin.
  take(announced.front().at, announced.front().amount);
  announced.pop();
  if (observer_ != nullptr || counts_ || level_ >= capacity_ || !has_bin()) {
    announced.pop_while([&](const Removal& oldest) {
      if (oldest.at > end) return false;
      take(oldest.at, oldest.amount);
      return true;
    });
    return;
  }
  TimePs* const bins = histogram_.data();
  std::uint64_t level = level_;
  TimePs last = last_;
  LevelTime level_time = level_time_;
  announced.pop_while([&](const Removal& oldest) {
    if (oldest.at > end) return false;
    if (oldest.at > last) {
      const TimePs span = oldest.at - last;
      bins[bin_of(level)] += span;
      if (level >= exact_levels_) level_time += product(level, span);
      last = oldest.at;
    } else {
      level_time -= product(oldest.amount, last - oldest.at);
    }
    level -= oldest.amount;
    return true;
  });
  level_ = level;
  last_ = last;
  level_time_ = level_time;
}

std::uint64_t Occupancy::p99(TimePs end) const {
  const std::vector<TimePs> bins = closed_histogram(end);
  const TimePs total = std::accumulate(bins.begin(), bins.end(), TimePs{0});
  const auto limit = static_cast<TimePs>(0.99 * static_cast<double>(total));
  TimePs seen = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    seen += bins[i];
    if (seen < limit || seen == 0) continue;
    return std::min({upper_edge(i), high_water_, capacity_});
  }
  return high_water_;
}

std::vector<Occupancy::Bin> Occupancy::histogram(TimePs end) const {
  const std::vector<TimePs> bins = closed_histogram(end);
  const TimePs total = std::accumulate(bins.begin(), bins.end(), TimePs{0});
  std::vector<Bin> shares;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] == 0) continue;
    shares.push_back({std::min(upper_edge(i), capacity_), static_cast<double>(bins[i]) / static_cast<double>(total)});
  }
  return shares;
}

}  // namespace mrc
