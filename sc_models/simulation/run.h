// A model run to its end: the loop between two steps of the series, and when it is over.
#pragma once

#include <atomic>
#include <cstdint>

#include "simulation/model.h"
#include "simulation/sample.h"

namespace mrc {

enum class RunEnd : std::uint8_t { over, stalled, out_of_time, interrupted };

/// Runs until all work is done, nothing moves any more, the time is over, something is wrong, or `interrupted`.
RunEnd play(Model& model, Sampler& sampler, const std::atomic<bool>& interrupted);

}  // namespace mrc
