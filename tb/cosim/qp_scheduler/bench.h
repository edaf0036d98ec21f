// The bench of qp_scheduler over its Verilated classes.
#pragma once

#include <memory>

#include "cosim/bench/bench.h"

namespace mrc::cosim {

/// Of the size that the module is built for (MRCSIM_BENCH_DEFAULT): "default", the scenario's, or else "small", where
/// every corner is reached.
std::unique_ptr<BlockModel> make_qp_scheduler_bench_model();

}  // namespace mrc::cosim
