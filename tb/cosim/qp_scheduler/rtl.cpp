#include "cosim/qp_scheduler/rtl.h"

#include "Vqp_scheduler_16384_1024.h"
#include "cosim/qp_scheduler/adapter.h"

namespace mrc {

std::unique_ptr<QpSchedulerEngine> make_qp_scheduler_rtl(std::uint32_t quantum_bytes,
                                                         const cosim::TraceRecorder& recorder) {
  return std::make_unique<QpSchedulerAdapter<Vqp_scheduler_16384_1024>>(quantum_bytes, kQpSchedulerSizes.slots,
                                                                        recorder);
}

}  // namespace mrc
