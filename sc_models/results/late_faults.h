// What a run says of faults that lie after its end.
#pragma once

#include <string>
#include <vector>

#include "parameters/config.h"

namespace mrc {

/// One line that names the faults of the scenario that begin after `end_us`, and outages of flapping links after it.
/// Empty where there are none.
std::vector<std::string> late_fault_notes(const ScenarioConfig& scenario, double end_us);

}  // namespace mrc
