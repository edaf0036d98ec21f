// When a switch port marks, trims, drops or asks for a pause.
#pragma once

#include <cstdint>

namespace mrc {

/// Thresholds of all ports of one kind.
struct QueueLaw {
  std::uint64_t ecn_min_bytes = 0;
  std::uint64_t ecn_max_bytes = 0;
  double ecn_max_probability = 0;  ///< 0: no marking
  std::uint64_t data_bytes = 0;    ///< of data and retransmissions that wait; beyond: trimmed or dropped
  bool trim = false;
  bool last_hop = false;
};

/// PFC: data queued in a switch, counted per ingress port.
struct PauseLaw {
  bool on = false;
  std::uint64_t xoff_bytes = 0;  ///< above: the sender is paused
  std::uint64_t xon_bytes = 0;   ///< at most: the sender goes on
};

}  // namespace mrc
