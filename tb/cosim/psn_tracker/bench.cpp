#include "cosim/psn_tracker/bench.h"

#include "Vpsn_tracker_bench.h"
#include "Vpsn_tracker_bench_small.h"
#include "cosim/psn_tracker/model.h"
#include "cosim/psn_tracker/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_psn_tracker_bench_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<PsnTrackerModel>(kPsnTrackerRtl, make_psn_tracker_dut<Vpsn_tracker_bench>);
  }
  return std::make_unique<PsnTrackerModel>(PsnTrackerSizes{64, 32, 4}, make_psn_tracker_dut<Vpsn_tracker_bench_small>);
}

}  // namespace mrc::cosim
