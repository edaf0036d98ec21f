// Results that differ in their seed only, taken together.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mrc {

struct ResultGroup {
  std::string name;                     ///< as it was given
  std::vector<nlohmann::json> results;  ///< each a whole result.json; at least one
};

/// `place` is a result.json, a folder with one, a folder of such folders, or "DATABASE:STUDY.POINT" for all complete
/// runs of a study's point. Throws StudyError where there is no result, or where the results of a group differ in more
/// than their seed.
ResultGroup load_results(const std::string& place);

}  // namespace mrc
