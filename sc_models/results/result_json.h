// result.json and series.json (docs/result.md): stable keys, all always there, byte for byte the same for the same run.
#pragma once

#include <string>

#include "parameters/config.h"
#include "results/run_result.h"

namespace mrc {

/// The text of result.json; `scenario` gives the effective parameters.
std::string result_json(const RunResult& result, const ScenarioConfig& scenario);
std::string series_json(const RunResult& result);

}  // namespace mrc
