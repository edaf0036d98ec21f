#include "study/axis.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr std::size_t kMostValues = 10'000;

/// "node.nic3.pcie.mps_bytes" → "pcie.mps_bytes"; other keys stay. Whether there is such a node is the scenario's rule.
std::string without_node(const std::string& key) {
  if (!key.starts_with("node.nic")) return key;
  const std::size_t dot = key.find('.', 5);
  return dot == std::string::npos ? key : key.substr(dot + 1);
}

double factor_or_step(const Parameter& parameter, const std::string& text, const std::string& place) {
  Parameter any = parameter;
  any.minimum = 0;
  any.maximum = 9e18;
  any.words.clear();
  if (parameter.unit != "bytes") any.type = ParameterType::real;
  return number_of(parse_value(any, text, place));
}

std::vector<std::string> distinct(std::vector<std::string> values) {
  std::vector<std::string> kept;
  for (std::string& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(std::move(value));
  }
  return kept;
}

void parse_list(Axis& axis, const std::string& list, const std::string& place) {
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    axis.values.push_back(to_string(parse_value(*axis.parameter, list.substr(start, comma - start), place)));
    start = comma + 1;
  }
  axis.values = distinct(std::move(axis.values));
}

void parse_range(Axis& axis, const std::string& range, const std::string& place) {
  const Parameter& p = *axis.parameter;
  if (p.type != ParameterType::integer && p.type != ParameterType::real) {
    throw ParameterError(place, fmt::format("{} takes no range; allowed: {}", p.name, p.allowed()));
  }
  const std::size_t dots = range.find("..");
  const std::size_t colon = range.find(':', dots);
  axis.low = number_of(parse_value(p, range.substr(0, dots), place));
  axis.high = number_of(
      parse_value(p, range.substr(dots + 2, colon == std::string::npos ? std::string::npos : colon - dots - 2), place));
  if (axis.low >= axis.high) throw ParameterError(place, "the lower end of a range comes first, then the higher one");
  if (colon == std::string::npos) return;
  const std::string rule = range.substr(colon + 1);
  const bool multiplies = rule.starts_with("x");
  if (!multiplies && !rule.starts_with("+")) {
    throw ParameterError(place, fmt::format("\":{}\" is not a step; expected :xF (times F) or :+S (plus S)", rule));
  }
  const double step = factor_or_step(p, rule.substr(1), place);
  if (multiplies && (step <= 1 || axis.low <= 0)) {
    throw ParameterError(place, "a factor must be above 1, and the range must begin above 0");
  }
  if (!multiplies && step <= 0) throw ParameterError(place, "a step must be above 0");
  for (std::size_t i = 0;; ++i) {
    const double n = static_cast<double>(i);
    const double value = multiplies ? axis.low * std::pow(step, n) : axis.low + n * step;
    // A value within rounding of the upper end is the upper end.
    if (value >= axis.high * (1 - 1e-12)) break;
    if (axis.values.size() >= kMostValues) {
      throw ParameterError(place, fmt::format("more than {} values; take a larger step", kMostValues));
    }
    axis.values.push_back(number_text(p, value));
  }
  axis.values.push_back(number_text(p, axis.high));
  axis.values = distinct(std::move(axis.values));
  for (const std::string& value : axis.values) parse_value(p, value, place);
}

}  // namespace

double number_of(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return 0;
}

std::string number_text(const Parameter& parameter, double value) {
  if (parameter.type == ParameterType::integer) return fmt::format("{}", std::llround(value));
  return to_string(ParameterValue(value));
}

const Parameter& parameter_of_key(const std::string& key, const std::string& place) {
  const std::string name = without_node(key);
  const Parameter* parameter = find_parameter(name);
  if (parameter == nullptr) {
    throw ParameterError(place, fmt::format("unknown key {}; nearest: {}", key, nearest_parameter(name)));
  }
  if (name != key && !parameter->per_node) {
    throw ParameterError(place, fmt::format("{} is the same for all nodes; vary it without node.…", name));
  }
  return *parameter;
}

Axis parse_axis(const std::string& text) {
  const std::string place = "--vary " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ParameterError(place, "expected key=a,b,c or key=lo..hi:xF or key=lo..hi:+S");
  }
  Axis axis;
  axis.key = text.substr(0, equals);
  axis.parameter = &parameter_of_key(axis.key, place);
  if (axis.key == "seed") throw ParameterError(place, "seeds are varied by --seeds N");
  const std::string values = text.substr(equals + 1);
  const bool text_of_any_kind = axis.parameter->type == ParameterType::text && axis.parameter->words.empty();
  if (!text_of_any_kind && values.find("..") != std::string::npos) {
    parse_range(axis, values, place);
  } else {
    parse_list(axis, values, place);
  }
  return axis;
}

}  // namespace mrc
