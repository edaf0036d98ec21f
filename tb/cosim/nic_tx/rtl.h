// Verilated nic_tx, spray_scheduler, retransmit_buffer and srv6_encap joined, as the engines of their SystemC boxes, by
// pins only.
#pragma once

#include <cstdint>
#include <functional>

#include "cosim/spray_scheduler/rtl.h"
#include "nic/joined_engine.h"
#include "parameters/config.h"

namespace mrc {

/// The RTL is built for this; its other sizes are those of the blocks in runs.
inline constexpr std::uint32_t kNicTxDatapathBits = 1'024;

/// For a node whose datapath has kNicTxDatapathBits. `uplink_of`: the uplink that an EV takes. `beyond_interval`:
/// cycles by which the answer to a selection is later than the next selection may be taken. Throws as the three blocks
/// do for sizes that are not built and for settings that they do not know.
NicTxEngines make_nic_tx_rtl(const ScenarioConfig& scenario, NodeId node,
                             const std::function<std::uint32_t(Ev)>& uplink_of, std::uint32_t beyond_interval);

}  // namespace mrc
