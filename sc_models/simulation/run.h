// A model run to its end: the loop between two steps of the series, and when it is over.
#pragma once

#include <atomic>
#include <cstdint>

#include "simulation/early_stop.h"
#include "simulation/fast_forward.h"
#include "simulation/model.h"
#include "simulation/sample.h"

namespace mrc {

enum class RunEnd : std::uint8_t { over, stalled, out_of_time, interrupted, known };

/// Runs until all work is done, nothing moves any more, the time is over, something is wrong, `interrupted`, or
/// `early_stop` knows what was asked for. `fast_forward` skips time in it.
RunEnd play(Model& model, Sampler& sampler, EarlyStop& early_stop, FastForward& fast_forward,
            const std::atomic<bool>& interrupted);

}  // namespace mrc
