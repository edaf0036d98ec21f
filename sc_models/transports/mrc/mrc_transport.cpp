// MRC: sprayed over EVs, selective retransmission, trimming.
#include "parameters/transport.h"

#include <algorithm>
#include <cmath>

#include "parameters/config.h"
#include "parameters/ring1_parameters.h"

namespace mrc {
namespace {

std::uint32_t mrc_link_bytes(const Packet& packet, const ScenarioConfig& scenario) {
  return link_bytes(packet, scenario.protocol, scenario.fabric.trim_bytes) + macsec_bytes(scenario.fabric);
}

/// Thresholds that a scenario leaves at 0 are shares of the bandwidth-delay product.
QueueLaw mrc_queue_law(const ScenarioConfig& scenario, double gbps, bool last_hop) {
  const FabricConfig& fabric = scenario.fabric;
  const double bdp = gbps / 8.0 * static_cast<double>(scenario.cc.base_rtt_ps) / 1000.0;
  const auto bytes = [&](std::uint64_t given, double share) {
    return given != 0 ? given : static_cast<std::uint64_t>(share * bdp);
  };
  QueueLaw law;
  law.last_hop = last_hop;
  law.ecn_min_bytes = bytes(fabric.ecn_min_bytes, 0.2);
  law.ecn_max_bytes = std::max(law.ecn_min_bytes + 1, bytes(fabric.ecn_max_bytes, 0.8));
  law.ecn_max_probability = fabric.ecn && (!last_hop || fabric.ecn_last_hop) ? fabric.ecn_max_probability : 0;
  law.trim = fabric.trim && scenario.protocol.trim_nack;
  law.data_bytes = law.trim ? bytes(fabric.trim_threshold_bytes, last_hop ? 1.5 : 1.0) : ~0ULL;
  return law;
}

void add_mrc_parameters(ParameterTable& table) {
  add_protocol_parameters(table);
  add_congestion_parameters(table);
}

double mrc_timeout_ps(const ScenarioConfig& scenario) {
  return std::ldexp(1.024 * kPsPerUs, static_cast<int>(scenario.protocol.timeout_exponent));
}

}  // namespace

extern const Transport mrc_transport;
const Transport mrc_transport{.name = "mrc",
                              .has_detailed_nic = true,
                              .captured = true,
                              .encrypts = true,
                              .source_routed = true,
                              .link_bytes = mrc_link_bytes,
                              .queue_law = mrc_queue_law,
                              .timeout_ps = mrc_timeout_ps,
                              .add_parameters = add_mrc_parameters};

}  // namespace mrc
