#include "study/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace mrc {
namespace {

/// Two-sided 95 % quantile of Student's t; between the rows the next smaller number of degrees of freedom, which is the
/// careful side.
double student_t(double degrees) {
  static constexpr std::array<double, 30> table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                                2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                                2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const auto row = static_cast<std::size_t>(std::max(1.0, std::floor(degrees)));
  if (row <= table.size()) return table[row - 1];
  return row < 60 ? 2.042 : row < 120 ? 2.000 : 1.980;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Unbiased; 0 for a single value.
double variance_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

}  // namespace

Interval confidence_interval(const std::vector<double>& values) {
  const double mean = mean_of(values);
  // Infinite values, of runs that never ended, have no scatter.
  if (values.size() < 2 || !std::isfinite(mean)) return {mean, mean, mean};
  const auto n = static_cast<double>(values.size());
  const double half = student_t(n - 1) * std::sqrt(variance_of(values) / n);
  return {mean, mean - half, mean + half};
}

bool beyond_noise(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 && b.size() < 2) return false;
  const double difference = std::abs(mean_of(a) - mean_of(b));
  const double pooled_a = a.size() < 2 ? variance_of(b) : variance_of(a);
  const double pooled_b = b.size() < 2 ? variance_of(a) : variance_of(b);
  const double error_a = pooled_a / static_cast<double>(a.size());
  const double error_b = pooled_b / static_cast<double>(b.size());
  const double error = error_a + error_b;
  if (error == 0) return difference > 0;
  const auto degrees_of = [](const std::vector<double>& v) {
    return std::max<double>(1, static_cast<double>(v.size()) - 1);
  };
  const double degrees = error * error / (error_a * error_a / degrees_of(a) + error_b * error_b / degrees_of(b));
  return difference > student_t(degrees) * std::sqrt(error);
}

}  // namespace mrc
