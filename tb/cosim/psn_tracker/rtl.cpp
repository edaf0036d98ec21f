#include "cosim/psn_tracker/rtl.h"

#include <stdexcept>

#include <fmt/format.h>

#include "Vpsn_tracker_1024.h"
#include "cosim/psn_tracker/adapter.h"

namespace mrc {

std::unique_ptr<PsnTrackerEngine> make_psn_tracker_rtl(const PsnTrackerSizes& sizes, const PsnTrackerSettings& settings,
                                                       const cosim::TraceRecorder& recorder) {
  if (sizes.banks != kPsnTrackerRtl.banks) {
    throw std::invalid_argument(fmt::format("nic.psn_tracker.bitmap_banks = {}: RTL of psn_tracker is built for {}",
                                            sizes.banks, kPsnTrackerRtl.banks));
  }
  if (sizes.mpr_units != kPsnTrackerRtl.mpr_units) {
    throw std::invalid_argument(fmt::format("protocol.mpr_units = {}: RTL of psn_tracker is built for {}",
                                            sizes.mpr_units, kPsnTrackerRtl.mpr_units));
  }
  return std::make_unique<PsnTrackerAdapter<Vpsn_tracker_1024>>(settings, recorder);
}

}  // namespace mrc
