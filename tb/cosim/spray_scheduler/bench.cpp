#include "cosim/spray_scheduler/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vspray_scheduler_bench.h"
#else
#include "Vspray_scheduler_bench_small.h"
#endif
#include "cosim/spray_scheduler/model.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_spray_scheduler_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<SpraySchedulerModel>(SpraySizes{1024, 256, 8}, 2U,
                                               make_spray_scheduler_dut<Vspray_scheduler_bench>);
#else
  return std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 2U,
                                               make_spray_scheduler_dut<Vspray_scheduler_bench_small>);
#endif
}

}  // namespace mrc::cosim
