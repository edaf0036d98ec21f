// Functional coverage as JSON: cosim.json and bins.json have the same.
#pragma once

#include <nlohmann/json.hpp>

#include "cosim/bench/coverage.h"

namespace mrc {

/// {"bins", "hit", "points": [{"point", "bins": [{"bin", "hits", "waiver"}]}]}; bins that are waived do not count.
inline nlohmann::ordered_json coverage_json(const cosim::FunctionalCoverage& coverage) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array();
  for (const auto& point : coverage.points()) {
    Json bins = Json::array();
    for (const auto& bin : point.bins) {
      bins.push_back({{"bin", bin.name}, {"hits", bin.hits}});
      if (!bin.waiver.empty()) bins.back()["waiver"] = bin.waiver;
    }
    points.push_back({{"point", point.name}, {"bins", bins}});
  }
  return {{"bins", coverage.bins()}, {"hit", coverage.bins_hit()}, {"points", points}};
}

}  // namespace mrc
