// What limits a model whose starts are recorded: the chain of predecessors that came last, followed back from a packet
// that left. In steady state the throughput is that of the slowest cycle of this chain. A cycle is a server that never
// rests (its interval for each packet), or a loop of tokens (the time that a token is away).
#pragma once

#include <cstdint>
#include <map>

#include "engine/causal_trace.h"

namespace mrc {

/// Time by pool (StartPoint::pool_key).
using ChargedTime = std::map<std::uint32_t, double>;

/// Walks back from the last start at a port of `node` to the beginning of the window. Where a place comes again, the
/// cycle is taken out and its time is attributed to its pools: a delay to what caused it, the rest in equal parts to the
/// tokens that were waited for. Time in which the ports of `node` send is attributed to nobody. Time that closes no cycle
/// is dropped. Nothing where the chain is lost in less than half of the window: something on its way records no starts.
ChargedTime charge_critical_path(const CausalTrace& trace, std::uint32_t node);

}  // namespace mrc
