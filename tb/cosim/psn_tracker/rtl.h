// Verilated psn_tracker in the sizes that are built.
#pragma once

#include <memory>

#include "cosim/trace.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

/// The sizes that runs can have.
inline constexpr PsnTrackerSizes kPsnTrackerRtl{1'024, 4'096, 8};

/// `recorder` keeps what the RTL is asked, here as in the other blocks. Throws std::invalid_argument, naming both, for
/// banks and windows that no RTL is built for.
std::unique_ptr<PsnTrackerEngine> make_psn_tracker_rtl(const PsnTrackerSizes& sizes, const PsnTrackerSettings& settings,
                                                       const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
