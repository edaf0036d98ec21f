// Verilated nic_rx, psn_tracker and ack_coalescer joined, as the engines of both SystemC boxes, by pins only.
#pragma once

#include <cstdint>

#include "nic/joined_engine.h"

namespace mrc {

struct NicRxSettings {
  PsnTrackerSettings psn_tracker;
  std::uint32_t sack_threshold_bytes = 0;
  std::uint32_t sack_min_add_bytes = 0;
};

/// Throws std::invalid_argument, naming both, for banks and windows that no RTL is built for. `sack_cycles`: from an
/// event to its SACK, at most.
NicRxEngines make_nic_rx_rtl(const PsnTrackerSizes& sizes, const NicRxSettings& settings, std::uint32_t sack_cycles);

}  // namespace mrc
