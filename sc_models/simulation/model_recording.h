// What of the model a recording watches: the buffers, slots and work clocks of a NIC, its windows and EV states, and
// the queues of the fabric.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "mrc/control/path_table.h"
#include "nic/nic.h"
#include "nic/nic_context.h"
#include "results/recording.h"
#include "simulation/model.h"

namespace mrc {

/// Most congestion domains of a node whose windows are shown, and path tables of which changes of single EVs are shown.
inline constexpr std::size_t kMostWatchedDomains = 64;
/// With more switch ports only those to the NICs that are recorded are watched.
inline constexpr std::ptrdiff_t kMostWatchedPorts = 1'024;

/// All outlive the recording.
void record_nic(Recording& recording, Recorder& recorder, const std::string& node, const Nic& nic,
                const NicContext& context, std::span<const PathTable* const> path_tables);
/// In a large fabric only the switch ports that lead to `nodes`.
void record_fabric(Recording& recording, Recorder& recorder, Fabric& fabric, const std::set<NodeId>& nodes);

/// The model's recording, with what its options want to be told. Does nothing where nobody records.
void build_recording(Model& model);

}  // namespace mrc
