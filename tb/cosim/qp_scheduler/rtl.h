// Verilated qp_scheduler as an engine of the SystemC box.
#pragma once

#include <memory>

#include "cosim/trace.h"
#include "nic/tx/qp_scheduler_engine.h"

namespace mrc {

inline constexpr QpSchedulerSizes kQpSchedulerSizes{16'384, 1'024};
/// Of the tests.
inline constexpr QpSchedulerSizes kSmallQpSchedulerSizes{64, 32};
/// QPs that go round in a calibration.
inline constexpr std::uint32_t kQpSchedulerCalibrated = 32;

std::unique_ptr<QpSchedulerEngine> make_qp_scheduler_rtl(std::uint32_t quantum_bytes,
                                                         const cosim::TraceRecorder& recorder = {});

}  // namespace mrc
