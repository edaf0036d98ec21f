// Verilated spray_scheduler as an engine of the SystemC box.
#pragma once

#include <memory>

#include "cosim/contract.h"
#include "cosim/trace.h"
#include "nic/tx/spray_scheduler_engine.h"

namespace mrc {

/// The RTL that has at least these sizes, as small as possible; throws std::invalid_argument, naming what is built, if
/// there is none.
std::unique_ptr<SpraySchedulerEngine> make_spray_scheduler_rtl(const SpraySizes& needed,
                                                               const cosim::TraceRecorder& recorder = {},
                                                               const RtlContract& contract = {});

}  // namespace mrc
