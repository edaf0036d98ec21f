// Functional coverage as JSON: cosim.json and bins.json have the same.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "cosim/bench/coverage.h"

namespace mrc {

/// {"bins", "hit", "points": [{"point", "bins": [{"bin", "hits", "waiver"}]}]}; bins that are waived do not count.
inline nlohmann::ordered_json coverage_json(const std::vector<cosim::FunctionalCoverage::Point>& points) {
  using Json = nlohmann::ordered_json;
  std::uint64_t count = 0;
  std::uint64_t hit = 0;
  Json list = Json::array();
  for (const auto& point : points) {
    Json bins = Json::array();
    for (const auto& bin : point.bins) {
      bins.push_back({{"bin", bin.name}, {"hits", bin.hits}});
      if (!bin.waiver.empty()) bins.back()["waiver"] = bin.waiver;
      count += bin.waiver.empty() ? 1 : 0;
      hit += bin.waiver.empty() && bin.hits > 0 ? 1 : 0;
    }
    list.push_back({{"point", point.name}, {"bins", bins}});
  }
  return {{"bins", count}, {"hit", hit}, {"points", list}};
}

}  // namespace mrc
