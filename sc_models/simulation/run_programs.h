// A model that programs drive, run to the end of the last of them: the NICs go on while all programs wait, and no
// further than the next of them acts.
#pragma once

#include <atomic>

#include "simulation/model.h"
#include "simulation/run.h"
#include "simulation/sample.h"

namespace mrc {

RunEnd play_programs(Model& model, Sampler& sampler, const std::atomic<bool>& interrupted);

}  // namespace mrc
