// Fits parameters of a model to measured values, with intervals. Values and parameters are positive and compared as
// logarithms: deviations are shares. What the values do not determine keeps its start, with an interval as wide as what
// was allowed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mrc {

struct FitParameter {
  std::string name;
  double start = 1;
  double low = 0.1;  ///< of what is looked at, above 0; with `high`
  double high = 10;
  bool whole = false;  ///< takes whole numbers only
};

struct FitValue {
  double value = 1;
  std::size_t group = 0;  ///< values of a group have deviations of one size
  double scatter = 0.03;  ///< the deviation that is expected at first
};

/// The model's values, in the order of FitValue, for each of several settings of the parameters; empty where a setting
/// is not possible.
using FitModel = std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& settings)>;

struct FittedParameter {
  double value = 0;
  double low = 0;  ///< of the interval
  double high = 0;
  /// The values narrow it down: its interval is less than half as wide, in logarithms, as without them.
  bool determined = false;
  double effect = 0;              ///< the largest change of a value, as a share, by 10 % of the parameter
  std::size_t most_moved = 0;     ///< that value
  std::vector<std::size_t> with;  ///< parameters that could take its part: together, correlated by more than 0.9
};

struct FitResult {
  std::vector<FittedParameter> parameters;
  std::vector<double> modelled;       ///< in the order of the values
  std::vector<double> group_scatter;  ///< root of the mean square of the deviations
  std::size_t settings_tried = 0;
};

/// `confidence` of the intervals, such as 0.9. Precondition: values is not empty.
FitResult fit_parameters(const std::vector<FitParameter>& parameters, const std::vector<FitValue>& values,
                         const FitModel& model, double confidence);

}  // namespace mrc
