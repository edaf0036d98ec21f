// What mrcsim knows of a block that has RTL; each has one in its folder. The RTL itself is in modules that are loaded
// on demand.
#pragma once

#include <cstdint>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/rtl_modules.h"
#include "cosim/trace.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation/options.h"

namespace mrc {

/// A way through the block on which its SystemC box is compared with it cycle by cycle.
struct Calibration {
  std::uint64_t stages = 1;  ///< of the RTL: answers that the box holds at once
  /// What the box takes for each transfer in this configuration.
  cosim::SystemcCycles (*pipeline)(const NodeConfig& config) = nullptr;
  const char* way = "";  ///< through the block, where it has several
  std::size_t in_port = 0;
  std::size_t out_port = 1;
  /// Parameters that these cycles are set by; empty: none.
  const char* latency_parameter = "";
  const char* interval_parameter = "";
};

struct RtlBlock {
  const char* name;
  /// Puts the RTL, in the sizes of the scenario, into `rtl`; `recorder` keeps what it is asked. Throws
  /// std::invalid_argument, naming what is built, for sizes that are not and for settings that the block does not know.
  void (*add)(const RtlSelection& selection, const ScenarioConfig& scenario, const cosim::TraceRecorder& recorder,
              NicRtl& rtl);
  std::vector<Calibration> calibrations;
};

inline cosim::SystemcCycles cycles_of(const PipelineConfig& pipeline) {
  return {pipeline.initiation_interval_cycles, pipeline.latency_cycles};
}

}  // namespace mrc
