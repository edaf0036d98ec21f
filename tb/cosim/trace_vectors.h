// Stimuli out of a run: engines that keep what a NIC asks of its RTL, as transfers of the block's input port.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cosim/bench/ports.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation.h"

namespace mrc::cosim {

/// As add_rtl(), and everything that `selection.block` is asked is appended to `vectors`, which outlives `rtl`. False
/// for a block whose requests are not kept.
bool add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl,
                      std::vector<Transaction>& vectors);

}  // namespace mrc::cosim
