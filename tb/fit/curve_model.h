// What the model says for measured curves, for several settings of a scenario at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/measured_curves.h"
#include "parameters/config.h"

namespace mrc {

/// The values in the order of `curves`, for each scenario. Each is computed in processes of its own, because a process
/// builds one model; before the first, this process must not have built any. Throws std::runtime_error if one of them
/// fails.
std::vector<std::vector<double>> values_of_model(const std::vector<MeasuredValue>& curves,
                                                 const std::vector<ScenarioConfig>& scenarios, std::uint32_t transfers);

}  // namespace mrc
