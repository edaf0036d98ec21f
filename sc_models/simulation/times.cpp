#include "simulation/times.h"

namespace mrc {
namespace {

double quantile_us(const std::vector<TimePs>& times, double share) {
  return to_us(times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1) + 0.5)]);
}

}  // namespace

RunResult::MessageTime spread_of(const std::vector<TimePs>& times) {
  double sum = 0;
  for (const TimePs time : times) sum += to_us(time);
  return {sum / static_cast<double>(times.size()), quantile_us(times, 0.5), quantile_us(times, 0.99),
          to_us(times.back())};
}

std::vector<RunResult::Quantile> quantiles_of(const std::vector<TimePs>& times) {
  std::vector<double> shares;
  for (int percent = 0; percent < 100; ++percent) shares.push_back(percent / 100.0);
  shares.insert(shares.end(), {0.995, 0.999, 0.9999, 1.0});
  std::vector<RunResult::Quantile> quantiles;
  for (const double share : shares) quantiles.push_back({share, quantile_us(times, share)});
  return quantiles;
}

}  // namespace mrc
