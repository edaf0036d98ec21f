#include "cosim/psn_tracker/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vpsn_tracker_bench.h"
#else
#include "Vpsn_tracker_bench_small.h"
#endif
#include "cosim/psn_tracker/model.h"
#include "cosim/psn_tracker/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_psn_tracker_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<PsnTrackerModel>(kPsnTrackerRtl, make_psn_tracker_dut<Vpsn_tracker_bench>);
#else
  return std::make_unique<PsnTrackerModel>(PsnTrackerSizes{64, 32, 4}, make_psn_tracker_dut<Vpsn_tracker_bench_small>);
#endif
}

}  // namespace mrc::cosim
