// Verilated psn_tracker in the sizes that are built.
#pragma once

#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "cosim/trace.h"
#include "nic/rx/psn_tracker_engine.h"

namespace mrc {

/// The sizes that runs can have.
inline constexpr PsnTrackerSizes kPsnTrackerRtl{1'024, 4'096, 8};

/// Throws std::invalid_argument, naming both, for banks and windows that no RTL is built for.
inline void check_psn_tracker_sizes(const PsnTrackerSizes& sizes) {
  if (sizes.banks != kPsnTrackerRtl.banks) {
    throw std::invalid_argument(fmt::format("nic.psn_tracker.bitmap_banks = {}: RTL of psn_tracker is built for {}",
                                            sizes.banks, kPsnTrackerRtl.banks));
  }
  if (sizes.mpr_units != kPsnTrackerRtl.mpr_units) {
    throw std::invalid_argument(fmt::format("protocol.mpr_units = {}: RTL of psn_tracker is built for {}",
                                            sizes.mpr_units, kPsnTrackerRtl.mpr_units));
  }
}

/// `recorder` keeps what the RTL is asked, here as in the other blocks. Throws as
/// check_psn_tracker_sizes().
std::unique_ptr<PsnTrackerEngine> make_psn_tracker_rtl(const PsnTrackerSizes& sizes, const PsnTrackerSettings& settings,
                                                       const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
