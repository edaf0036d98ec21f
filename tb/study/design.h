// The points of a study: combinations of the values of its axes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "study/axis.h"

namespace mrc {

/// A point: (key, value) in the order of the axes.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Points times seeds: plans beyond it are mistakes, or wait for their first run for minutes.
inline constexpr std::uint32_t kMostRunsOfAStudy = 200'000;

/// Every combination, the last axis fastest. Throws StudyError for a range without a step, a key that is varied twice,
/// or more points than kMostRunsOfAStudy.
std::vector<Settings> full_design(const std::vector<Axis>& axes);

/// `points` settings such that each axis is divided into as many strata and each stratum is used once; drawn by `seed`.
std::vector<Settings> latin_hypercube(const std::vector<Axis>& axes, std::uint32_t points, std::uint64_t seed);

/// "a=1 b=2"
std::string to_string(const Settings& settings);

}  // namespace mrc
