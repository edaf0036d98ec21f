// What kept the node under test from line rate, in Gb/s.
#pragma once

#include <vector>

#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "results/run_result.h"

namespace mrc {

/// Splits the transmit ports' line time during `active` into framing, control, retransmission and idle; idle time is
/// laid on the causes that held up the transmit slots, walking upstream from the spray scheduler, each slot's
/// empty-handed time in the proportion of its upstream neighbour's. Together with `goodput_gbps` the causes make up
/// `line_rate_gbps`.
std::vector<LimitResult> goodput_limits(const NicCounters& counters, const std::vector<const IssueSlot*>& slots,
                                        double line_rate_gbps, double goodput_gbps, TimePs active);

}  // namespace mrc
