#include "cosim/psn_tracker/rtl.h"

#include "Vpsn_tracker_1024.h"
#include "cosim/psn_tracker/adapter.h"

namespace mrc {

std::unique_ptr<PsnTrackerEngine> make_psn_tracker_rtl(const PsnTrackerSizes& sizes, const PsnTrackerSettings& settings,
                                                       const cosim::TraceRecorder& recorder) {
  check_psn_tracker_sizes(sizes);
  return std::make_unique<PsnTrackerAdapter<Vpsn_tracker_1024>>(settings, recorder);
}

}  // namespace mrc
