#include "latency/latency_terms.h"

#include <fmt/format.h>

#include "fabric/fabric_latency.h"
#include "host/host.h"
#include "nic/nic_boxes.h"
#include "parameters/parameter_value.h"
#include "parameters/transport.h"

namespace mrc {

void require_latency_terms(const ScenarioConfig& scenario, std::uint32_t bytes, const std::string& what) {
  if (!transport_of(scenario).has_detailed_nic) {
    throw ParameterError(what, fmt::format("the terms are those of the MRC NIC; transport = \"{}\" has others",
                                           scenario.node_default.transport));
  }
  if (!scenario.fabric.cable_delays_ns.empty()) {
    throw ParameterError(what, "the terms are those of cables of one length: set no fabric.cable_delays_ns");
  }
  if (bytes > scenario.protocol.mtu_bytes) {
    throw ParameterError(
        what, fmt::format("is not one packet; allowed: 1 … {} (protocol.mtu_bytes)", scenario.protocol.mtu_bytes));
  }
}

std::vector<LatencyTerm> latency_terms(const ScenarioConfig& scenario, std::uint32_t bytes) {
  LatencyAccount account(scenario, bytes);
  Host::declare_post_latency(account);
  timing::TransmitBoxes::declare_latency(account);
  timing::Port::declare_transmit_latency(account);
  declare_fabric_latency(account);
  timing::Port::declare_receive_latency(account);
  timing::ReceiveBoxes::declare_latency(account);
  Host::declare_delivery_latency(account);
  return account.take();
}

}  // namespace mrc
