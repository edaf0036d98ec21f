// What a caller may ask of a run besides its scenario and workload.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/occupancy.h"
#include "mrc/types.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "results/perfetto_timeline.h"
#include "results/progress.h"
#include "results/wave_recorder.h"
#include "split/ranks.h"

namespace mrc {

class LiveWork;
class Programs;

/// A block of a node that RTL replaces or accompanies.
struct RtlSelection {
  std::string block;
  NodeId node = 0;
  RtlMode mode = RtlMode::rtl;
  RtlTiming timing = RtlTiming::transaction;  ///< of a block that decides
  std::string joined{};                       ///< by pins: the RTL that it shares with its neighbors; empty: its own
};

struct SimulationOptions {
  std::vector<RtlSelection> rtl;
  /// Puts a selected block's RTL into its node's; throws std::invalid_argument for sizes that are not built.
  std::function<void(const RtlSelection&, const ScenarioConfig&, NicRtl&)> add_rtl;
  ProgressListener progress;  ///< shares are of the offered bytes
  std::string pcap;           ///< file to capture all ports' packets in; empty: none
  /// Asked for each buffer of a NIC which observer hears of its changes; may be empty, may answer null.
  std::function<LevelObserver*(const std::string& node, const Occupancy& buffer)> observe_buffer;
  WaveOptions waves;
  PerfettoOptions perfetto;
  std::uint64_t skip_memory_write = 0;  ///< see HostMemory::skip_write; on every node, 0: none
  Programs* programs = nullptr;         ///< that drive the NICs; null: the players of the workload do
  LiveWork* live = nullptr;             ///< of ranks whose work comes while the run goes on; null: none comes
  Ranks* ranks = nullptr;               ///< that carry the run together; null: this process alone
};

/// Throws std::invalid_argument where none of the selected nodes has boxes.
void check_rtl_selections(const ScenarioConfig& scenario, const std::vector<RtlSelection>& selections);

}  // namespace mrc
