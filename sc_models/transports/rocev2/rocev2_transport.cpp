// RoCEv2 RC, the baseline: one path per queue pair, go-back-N, DCQCN, PFC.
#include "parameters/transport.h"

#include <algorithm>
#include <cmath>

#include "mrc/rocev2/rc_packet.h"
#include "parameters/config.h"

namespace mrc {
namespace {

std::uint32_t rocev2_link_bytes(const Packet& packet, const ScenarioConfig& scenario) {
  return rc_wire_bytes(packet) + macsec_bytes(scenario.fabric);
}

/// Thresholds that a scenario leaves at 0 are DCQCN's, which hold for 40 Gb/s, by the link's rate.
QueueLaw rocev2_queue_law(const ScenarioConfig& scenario, double gbps, bool last_hop) {
  const Rocev2Config& rocev2 = scenario.rocev2;
  const auto scaled = [&](std::uint64_t given, double bytes_at_40g) {
    return given != 0 ? given : static_cast<std::uint64_t>(bytes_at_40g * gbps / 40.0);
  };
  QueueLaw law;
  law.last_hop = last_hop;
  law.ecn_min_bytes = scaled(rocev2.ecn_min_bytes, 5'000);
  law.ecn_max_bytes = std::max(law.ecn_min_bytes + 1, scaled(rocev2.ecn_max_bytes, 200'000));
  law.ecn_max_probability = rocev2.dcqcn ? rocev2.ecn_max_probability : 0;
  law.data_bytes = ~0ULL;
  return law;
}

PauseLaw rocev2_pause_law(const ScenarioConfig& scenario) {
  const Rocev2Config& rocev2 = scenario.rocev2;
  return {.on = rocev2.pfc, .xoff_bytes = rocev2.pfc_xoff_bytes, .xon_bytes = rocev2.pfc_xon_bytes};
}

double rocev2_timeout_ps(const ScenarioConfig& scenario) {
  return std::ldexp(4.096 * kPsPerUs, static_cast<int>(scenario.rocev2.rc.timeout_exponent));
}

}  // namespace

extern const Transport rocev2_transport;
const Transport rocev2_transport{.name = "rocev2",
                                 .keeps_order = true,
                                 .link_bytes = rocev2_link_bytes,
                                 .queue_law = rocev2_queue_law,
                                 .pause_law = rocev2_pause_law,
                                 .timeout_ps = rocev2_timeout_ps,
                                 .add_parameters = add_rocev2_parameters};

}  // namespace mrc
