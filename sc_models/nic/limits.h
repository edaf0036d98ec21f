// What kept the node under test from line rate, in Gb/s.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "nic/nic_context.h"
#include "results/run_result.h"

namespace mrc {

/// What the transmit ports of a node did while it was active.
struct PortTime {
  double line_rate_gbps = 0;  ///< all ports
  double goodput_gbps = 0;
  TimePs active_ps = 0;
  std::uint32_t ports = 0;
  std::vector<TimePs> slow_ps = {};            ///< by port: packets took longer than at full rate
  std::map<std::string, double> idle_ps = {};  ///< sum over ports, by cause
  /// Not among it: waiting for answers where it ended with a retransmission, by CutCause.
  std::array<TimePs, kCutCauses> retransmission_ps = {};
  /// Where the staging buffer of the receivers waits in turn: shares of its write slot's time by cause.
  std::map<std::string, double> receiver_write_blocked;
  /// Where packets were lost, trimmed and marked: shares by full queue behind a port, and by link.
  std::map<std::string, double> lost_at;
  std::map<std::string, double> trimmed_at;
  std::map<std::string, double> marked_at;
  /// The link at which packets are late, where most of the congestion is on one; and the share of the packets declared
  /// lost that had only been late.
  std::map<std::string, double> late_at;
  double late_share = 0;
};

/// Splits the ports' byte-times into framing, control, retransmission, payload that was not acknowledged by the end,
/// and idle by cause, each counted by itself; what is left to line rate is `unattributed`. Largest first, causes of 0
/// left out.
std::vector<LimitResult> goodput_limits(const NodeCounters& counters, const BoxCounters& of_boxes,
                                        const PortTime& time);

/// What is left of line rate after `goodput_gbps` and all causes is `unattributed`. Largest first, causes of 0 left
/// out.
std::vector<LimitResult> waterfall(const std::map<std::string, double>& causes, double line_rate_gbps,
                                   double goodput_gbps);

/// By what a retransmission of this cause is named.
std::string cause_of_retransmission(CutCause cause);

}  // namespace mrc
