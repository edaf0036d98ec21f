// The latency of a small write as the sum of named terms, from what host, NIC boxes, PCIe and fabric declare: an
// account of the path that a run can be compared with. From posting the work request until the receiver's software acts
// on the message, between two nodes below the same T0s, with nothing else under way and the QP context on the NIC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/latency_account.h"

namespace mrc {

/// The write of the published measurement (ib_write_lat).
inline constexpr std::uint32_t kSmallWriteBytes = 2;

/// Throws ParameterError, at the place `what`, where a scenario has no such terms: another transport's NICs, cables of
/// several lengths, or a write of more than one packet.
void require_latency_terms(const ScenarioConfig& scenario, std::uint32_t bytes, const std::string& what);

/// Terms in the order in which they pass, for `bytes` of payload (1 … protocol.mtu_bytes) between nodes that are set up
/// like the scenario's default node. Sums of means: where a latency is drawn, its mean.
std::vector<LatencyTerm> latency_terms(const ScenarioConfig& scenario, std::uint32_t bytes);

}  // namespace mrc
