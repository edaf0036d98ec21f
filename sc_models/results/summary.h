// What a person reads after a run.
#pragma once

#include <string>

#include "results/run_result.h"

namespace mrc {

/// Several lines of at most 100 columns; `colour` for a terminal.
std::string summary(const RunResult& result, bool colour);

}  // namespace mrc
