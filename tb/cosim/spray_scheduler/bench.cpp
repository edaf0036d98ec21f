#include "cosim/spray_scheduler/bench.h"

#include "Vspray_scheduler_bench.h"
#include "Vspray_scheduler_bench_small.h"
#include "cosim/spray_scheduler/model.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_spray_scheduler_bench_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<SpraySchedulerModel>(SpraySizes{1024, 256, 8}, 2U,
                                                 make_spray_scheduler_dut<Vspray_scheduler_bench>);
  }
  return std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 2U,
                                               make_spray_scheduler_dut<Vspray_scheduler_bench_small>);
}

}  // namespace mrc::cosim
