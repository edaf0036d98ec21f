// --vary: one parameter and its values in a study.
#pragma once

#include <string>
#include <vector>

#include "parameters/registry.h"

namespace mrc {

struct Axis {
  std::string key;                       ///< as in the registry, or node.nicN.key
  const Parameter* parameter = nullptr;  ///< the parameter of the key
  std::vector<std::string> values;       ///< canonical text, in order; empty for a range without a step
  double low = 0;                        ///< of a range without a step, only for a Latin hypercube
  double high = 0;
};

/// Reads "key=a,b,c", "key=lo..hi:xF" (multiplies by F), "key=lo..hi:+S" (adds S) or "key=lo..hi"; both ends belong to
/// a range. Throws ParameterError for an unknown key, a value out of its range, or an empty range.
Axis parse_axis(const std::string& text);

/// The parameter that `key` names, without its node; throws ParameterError with the nearest known key.
const Parameter& parameter_of_key(const std::string& key, const std::string& place);

/// A number as text in the type of the parameter: without fraction for integers.
std::string number_text(const Parameter& parameter, double value);
/// The number of a checked value.
double number_of(const ParameterValue& value);

}  // namespace mrc
