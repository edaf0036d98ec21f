#include "results/time_spread.h"

namespace mrc {
namespace {

double quantile_us(const std::vector<TimePs>& times, double share) {
  return us_from_ps(times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)]);
}

}  // namespace

TimeSpread spread_of(const std::vector<TimePs>& times) {
  if (times.empty()) return {};
  double sum = 0;
  for (const TimePs time : times) sum += us_from_ps(time);
  return {times.size(), sum / static_cast<double>(times.size()), quantile_us(times, 0.5), quantile_us(times, 0.99),
          us_from_ps(times.back())};
}

std::vector<TimeQuantile> quantiles_of(const std::vector<TimePs>& times) {
  if (times.empty()) return {};
  std::vector<double> shares;
  for (int percent = 0; percent < 100; ++percent) shares.push_back(percent / 100.0);
  shares.insert(shares.end(), {0.995, 0.999, 0.9999, 1.0});
  std::vector<TimeQuantile> quantiles;
  for (const double share : shares) quantiles.push_back({share, quantile_us(times, share)});
  return quantiles;
}

}  // namespace mrc
