// The server that a box with a pipeline is: an item in each initiation interval, and where packets stream through it
// beat by beat their bytes at the width of the datapath.
#pragma once

#include <string>
#include <string_view>

#include "engine/declaration.h"
#include "nic/nic_context.h"

namespace mrc {

enum class Datapath : std::uint8_t { no, yes };

/// Cause of what waits because the box with this name is busy; pipeline_server() adds what relieves it.
inline Cause server_cause(NicContext& nic, std::string_view box) {
  return nic.causes.declare(box);
}

/// `cause`: of what waits because the box is busy. `parameters`: the box's name among the parameters of the NIC.
inline DeclaredServer pipeline_server(NicContext& nic, std::string_view cause, const std::string& parameters,
                                      const PipelineConfig& pipeline, Datapath datapath = Datapath::no) {
  CauseTable::Keys keys{"nic." + parameters + ".initiation_interval_cycles", "nic.core_clock_ghz"};
  if (datapath == Datapath::yes) keys.emplace_back("nic.datapath_bits");
  constexpr double gbps_per_bit_per_ps = 1000.0;
  const double gbps = nic.config.nic.datapath_bits * gbps_per_bit_per_ps / static_cast<double>(nic.clock.period_ps());
  return {.cause = nic.causes.declare(cause, keys),
          .interval_ps = nic.clock.cycles(pipeline.initiation_interval_cycles),
          .gbps = datapath == Datapath::yes ? gbps : 0};
}

}  // namespace mrc
