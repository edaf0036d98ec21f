// The server that an inline engine is: its own width per cycle, which need not be that of the datapath.
#pragma once

#include <string>

#include "engine/declaration.h"
#include "nic/nic_context.h"

namespace mrc {

/// `box`: the name of the box, of its cause and of its parameters.
template <typename EngineConfig>
DeclaredServer engine_server(NicContext& nic, const std::string& box, const EngineConfig& config) {
  constexpr double gbps_per_bit_per_ps = 1000.0;
  const CauseTable::Keys keys{"nic." + box + ".width_bits", "nic." + box + ".initiation_interval_cycles",
                              "nic.core_clock_ghz"};
  return {.cause = nic.causes.declare(box, keys),
          .interval_ps = nic.clock.cycles(config.pipeline.initiation_interval_cycles),
          .gbps = config.width_bits * gbps_per_bit_per_ps / static_cast<double>(nic.clock.period_ps())};
}

}  // namespace mrc
