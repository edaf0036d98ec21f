// Neighbors in the data path that are joined in RTL where all of them are in RTL by pins: rtl/nic_tx and rtl/nic_rx.
#pragma once

#include <string>
#include <vector>

#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "simulation/options.h"

namespace mrc {

struct JoinedRtl {
  const char* name;
  std::vector<std::string> blocks;
};

const std::vector<JoinedRtl>& joined_rtl();

/// Marks the selections of neighbors that are to be joined. They are not where one of them is a user's and the joined
/// RTL is ours, and nic_tx is not with another datapath than it is built for.
void join_neighbors(std::vector<RtlSelection>& selections, const ScenarioConfig& scenario);

/// The engines of the joined RTL that `selection` is part of; made with the first of its blocks. Throws as the
/// factories of the blocks.
NicRxEngines& nic_rx_engines(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);
NicTxEngines& nic_tx_engines(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);

}  // namespace mrc
