// Stimuli out of a run: engines that keep what a NIC asks of its RTL, as transfers of the block's input port.
#pragma once

#include <cstdint>

#include "cosim/bench/bench.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation/simulation.h"

namespace mrc::cosim {

/// As add_rtl(), and what `selection.block` is asked is appended to `trace`, which outlives `rtl`, up to `most`
/// transfers. False for a block whose requests are not kept.
bool add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl, Trace& trace,
                      std::uint64_t most);

}  // namespace mrc::cosim
