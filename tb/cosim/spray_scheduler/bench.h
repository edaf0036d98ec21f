// The bench of spray_scheduler over its Verilated classes.
#pragma once

#include <memory>
#include <string>

#include "cosim/bench/bench.h"

namespace mrc::cosim {

/// `size`: "small", where every corner is reached, or "default", the scenario's.
std::unique_ptr<BlockModel> make_spray_scheduler_bench_model(const std::string& size);

}  // namespace mrc::cosim
