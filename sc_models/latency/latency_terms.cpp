#include "latency/latency_terms.h"

#include "fabric/fabric_latency.h"
#include "host/host.h"
#include "nic/nic_boxes.h"

namespace mrc {

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
