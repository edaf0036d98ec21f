// The cycles of a block's RTL beside those of its SystemC box, for the same transfers at the same time and the same
// back-pressure.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cosim/bench/bench.h"

namespace mrc::cosim {

struct CalibrationPoint {
  double load = 1.0;          ///< transfers offered a cycle, 0 … 1
  double output_ready = 1.0;  ///< share of the cycles in which an output is taken
  std::uint64_t transfers = 20'000;
  std::uint64_t seed = 1;
  std::size_t in_port = 0;   ///< whose transfers are offered at this load
  std::size_t out_port = 1;  ///< whose outputs answer them, in order
};

struct CycleStatistics {
  double mean_latency = 0;  ///< cycles from a transfer's taking to its answer's
  std::uint64_t p99_latency = 0;
  double throughput = 0;  ///< transfers per cycle
  std::uint64_t answers = 0;
};

struct CalibrationRow {
  CalibrationPoint point;
  CycleStatistics rtl;
  CycleStatistics systemc;

  double throughput_error() const { return systemc.throughput / rtl.throughput - 1.0; }
  double mean_error_cycles() const { return systemc.mean_latency - rtl.mean_latency; }
  double p99_error_cycles() const {
    return static_cast<double>(systemc.p99_latency) - static_cast<double>(rtl.p99_latency);
  }
  /// Throughput within 1 %, mean within the larger of 2 % and half a cycle, p99 within the larger of 5 % and a cycle.
  bool within_limits() const;
};

/// The block's other ports offer what they have and are taken from at once. `pipeline`: what the SystemC box charges
/// each transfer; `places`: answers that it holds at once, which is the RTL's number of stages. `poll` is called from
/// time to time, and ends the measurement by what it throws.
CalibrationRow calibrate(BlockModel& model, const CalibrationPoint& point, const SystemcCycles& pipeline,
                         std::uint64_t places, const std::function<void()>& poll = {});

}  // namespace mrc::cosim
