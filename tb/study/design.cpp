#include "study/design.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "mrc/random.h"
#include "study/study_error.h"

namespace mrc {
namespace {

void refuse_doubles(const std::vector<Axis>& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (axes[i].key == axes[k].key) throw StudyError(fmt::format("--vary {}: is varied twice", axes[i].key));
    }
  }
}

std::vector<std::uint32_t> permutation(std::uint32_t size, KeyedRandom& random) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// `u` in [0, 1): a level of the axis, or a number between its ends.
std::string value_at(const Axis& axis, double u) {
  if (axis.values.empty()) return number_text(*axis.parameter, axis.low + u * (axis.high - axis.low));
  const auto level = static_cast<std::size_t>(u * static_cast<double>(axis.values.size()));
  return axis.values[std::min(level, axis.values.size() - 1)];
}

}  // namespace

std::vector<Settings> full_design(const std::vector<Axis>& axes) {
  refuse_doubles(axes);
  double count = 1;
  for (const Axis& axis : axes) {
    if (axis.values.empty()) {
      throw StudyError(
          fmt::format("--vary {}: a range without a step needs --design lhs; or give :xF or :+S", axis.key));
    }
    count *= static_cast<double>(axis.values.size());
  }
  if (count > kMostRunsOfAStudy)
    throw StudyError(fmt::format("{:.0f} points; at most {} are allowed", count, kMostRunsOfAStudy));
  std::vector<Settings> points{{}};
  for (const Axis& axis : axes) {
    std::vector<Settings> longer;
    for (const Settings& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().emplace_back(axis.key, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::vector<Settings> latin_hypercube(const std::vector<Axis>& axes, std::uint32_t points, std::uint64_t seed) {
  refuse_doubles(axes);
  std::vector<Settings> settings(points);
  for (const Axis& axis : axes) {
    KeyedRandom random(seed, "latin_hypercube." + axis.key);
    const std::vector<std::uint32_t> stratum = permutation(points, random);
    for (std::uint32_t i = 0; i < points; ++i) {
      settings[i].emplace_back(axis.key, value_at(axis, (stratum[i] + random.uniform()) / points));
    }
  }
  return settings;
}

std::string to_string(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

}  // namespace mrc
