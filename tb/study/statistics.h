// Mean and 95 % confidence interval of a few values.
#pragma once

#include <vector>

namespace mrc {

/// Of Student's distribution: t is below it with the probability `share`, 0.5 … 1; `degrees` of freedom, 1 or more.
double student_quantile(double share, double degrees);

struct Interval {
  double mean = 0;
  double low = 0;  ///< equal to the mean for a single value
  double high = 0;
};

/// Of the mean, by Student's t. `values` is not empty.
Interval confidence_interval(const std::vector<double>& values);

/// Whether the difference of two means is beyond what seeds explain: Welch's t-test at 5 %, two-sided. With a single
/// value on one side the other's scatter is taken for both; with one on each side nothing is known, and the answer is
/// false.
bool beyond_noise(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace mrc
