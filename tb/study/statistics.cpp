#include "study/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mrc {
namespace {

/// Regularized incomplete beta function by its continued fraction (Lentz); good where x is below the mean of the beta
/// distribution, a / (a + b).
double beta_below_mean(double a, double b, double x) {
  constexpr int most_terms = 10'000;
  constexpr double exact = 1e-15;
  double c = 1;
  double d = 1 / (1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < most_terms; ++m) {
    const double before = fraction;
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      fraction *= c * d;
    }
    if (std::abs(fraction / before - 1) < exact) break;
  }
  const double log_scale = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_scale) * fraction / a;
}

/// Probability that Student's t is above `t`, which is above 0.
double student_tail(double t, double degrees) {
  const double x = degrees / (degrees + t * t);
  const double a = degrees / 2;
  constexpr double b = 0.5;
  const double beta = x * (a + b) < a ? beta_below_mean(a, b, x) : 1 - beta_below_mean(b, a, 1 - x);
  return beta / 2;
}

/// Of a two-sided 95 % interval.
double student_t(double degrees) {
  return student_quantile(0.975, degrees);
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

double student_quantile(double share, double degrees) {
  constexpr int halvings = 100;
  double low = 0;
  double high = 1;
  while (student_tail(high, degrees) > 1 - share) high *= 2;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (student_tail(middle, degrees) > 1 - share ? low : high) = middle;
  }
  return high;
}

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
