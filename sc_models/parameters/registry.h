// Every parameter of a scenario: name, type, unit, range, meaning, source, and the field of ScenarioConfig that holds
// it. The scenario file, `--set`, `mrcsim params` and the documentation read this table. The rows are in the
// *_parameters.cpp beside what they configure (parameter_table.h), the defaults in the *_parameters.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/config.h"
#include "parameters/parameter_value.h"

namespace mrc {

/// Where a default or a rule comes from; calibrated: fitted once to one published figure.
enum class ParameterSource : std::uint8_t { spec, api, paper, measured, assumption, calibrated };

struct Parameter {
  std::string name;
  ParameterType type;
  std::string_view unit;  ///< "" without one
  double minimum = 0;     ///< of numbers
  double maximum = 0;
  std::vector<std::string> words;  ///< allowed words, or allowed numbers as text; empty: any in range
  std::string_view meaning;
  ParameterSource source;
  /// Of an assumption, the values that existing hardware and software may have; equal: nobody has said.
  double plausible_low = 0;
  double plausible_high = 0;
  bool per_node = false;  ///< can be overridden by [node.nicN]
  std::function<ParameterValue(const ScenarioConfig&, const NodeConfig&)> get;
  std::function<void(ScenarioConfig&, NodeConfig&, const ParameterValue&)> set;

  /// What is allowed, for messages and tables: "1 … 1024 entries", "bytes | reference".
  std::string allowed() const;
};

/// All parameters in the order of the documentation.
const std::vector<Parameter>& parameters();
/// Null for an unknown name.
const Parameter* find_parameter(std::string_view name);
/// The known name with the smallest edit distance.
std::string nearest_parameter(std::string_view name);

/// Checks type and range and returns the value in the parameter's type. Text is a number with a unit where the type is
/// one. `place` opens the message of a ParameterError.
ParameterValue checked_value(const Parameter& parameter, const ParameterValue& value, const std::string& place);
/// As text from a command line; numbers may carry a unit (quantity.h).
ParameterValue parse_value(const Parameter& parameter, std::string_view text, const std::string& place);

std::string_view to_string(ParameterSource source);
std::string_view to_string(ParameterType type);

}  // namespace mrc
