#include "cosim/qp_scheduler/bench.h"

#ifdef MRCSIM_BENCH_DEFAULT
#include "Vqp_scheduler_bench.h"
#else
#include "Vqp_scheduler_bench_small.h"
#endif
#include "cosim/qp_scheduler/model.h"
#include "cosim/qp_scheduler/rtl.h"

namespace mrc::cosim {

std::unique_ptr<BlockModel> make_qp_scheduler_bench_model() {
#ifdef MRCSIM_BENCH_DEFAULT
  return std::make_unique<QpSchedulerModel>(kQpSchedulerSizes, make_qp_scheduler_dut<Vqp_scheduler_bench>);
#else
  return std::make_unique<QpSchedulerModel>(kSmallQpSchedulerSizes, make_qp_scheduler_dut<Vqp_scheduler_bench_small>);
#endif
}

}  // namespace mrc::cosim
