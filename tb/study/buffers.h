// The parameters that are sizes of on-chip memory.
#pragma once

#include <string>
#include <vector>

#include "parameters/config.h"

namespace mrc {

/// Keys of the capacities that change the SRAM of the scenario's node under test, in the registry's order.
std::vector<std::string> buffer_keys(const ScenarioConfig& scenario);

}  // namespace mrc
