// Ultra Ethernet's transport: RUD over sprayed packets, trimming, NSCC or credits.
#include "parameters/transport.h"

#include <algorithm>
#include <cmath>

#include "mrc/uet/uet_packet.h"
#include "parameters/config.h"
#include "transports/uet/uet_parameters.h"

namespace mrc {
namespace {

std::uint32_t uet_link_bytes(const Packet& packet, const ScenarioConfig& scenario) {
  const std::uint32_t trimmed = scenario.fabric.trim_bytes + kEthernetOverheadBytes - kEthernetHeaderBytes;
  const std::uint32_t bytes = packet.damage == Damage::trimmed ? trimmed : uet_wire_bytes(packet);
  return bytes + macsec_bytes(scenario.fabric);
}

/// Thresholds that a scenario leaves at 0 are shares of the bandwidth-delay product, the same at all ports.
QueueLaw uet_queue_law(const ScenarioConfig& scenario, double gbps, bool last_hop) {
  const FabricConfig& fabric = scenario.fabric;
  const double bdp = gbps / 8.0 * static_cast<double>(scenario.cc.base_rtt_ps) / 1000.0;
  const auto bytes = [&](std::uint64_t given, double share) {
    return given != 0 ? given : static_cast<std::uint64_t>(share * bdp);
  };
  const bool marks = !last_hop || (scenario.uet.ecn_last_hop && scenario.uet.congestion != UetCongestion::rccc);
  QueueLaw law;
  law.last_hop = last_hop;
  law.ecn_min_bytes = bytes(fabric.ecn_min_bytes, 0.2);
  law.ecn_max_bytes = std::max(law.ecn_min_bytes + 1, bytes(fabric.ecn_max_bytes, 0.8));
  law.ecn_max_probability = fabric.ecn && marks ? fabric.ecn_max_probability : 0;
  law.trim = fabric.trim;
  law.data_bytes = law.trim ? bytes(fabric.trim_threshold_bytes, 1.0) : ~0ULL;
  return law;
}

double uet_timeout_ps(const ScenarioConfig& scenario) {
  return std::ldexp(1.024 * kPsPerUs, static_cast<int>(scenario.uet.timeout_exponent));
}

}  // namespace

extern const Transport uet_transport;
const Transport uet_transport{.name = "uet",
                              .keeps_order = true,
                              .link_bytes = uet_link_bytes,
                              .queue_law = uet_queue_law,
                              .timeout_ps = uet_timeout_ps,
                              .add_parameters = add_uet_parameters};

}  // namespace mrc
