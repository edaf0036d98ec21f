// The blocks that have RTL, by name: what --rtl and --shadow may select, and how a NIC gets them.
#pragma once

#include <string>
#include <vector>

#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation/simulation.h"

namespace mrc {

/// In the order of the data path.
std::vector<std::string> rtl_block_names();

/// Puts the RTL of `selection.block`, in the sizes of the scenario, into `rtl`. Throws std::invalid_argument, naming
/// what is built, for sizes that are not, and for settings that the block does not know.
void add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);

}  // namespace mrc
