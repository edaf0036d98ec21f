#include "cosim/nic_tx/rtl.h"

#include "Vnic_tx_1024.h"
#include "cosim/nic_tx/adapter.h"

namespace mrc {

NicTxEngines make_nic_tx_rtl(const ScenarioConfig& scenario, NodeId node,
                             const std::function<std::uint32_t(Ev)>& uplink_of, std::uint32_t beyond_interval) {
  check_retransmit_buffer(scenario, node);
  return make_joined_engines<Vnic_tx_1024>(uplink_of, beyond_interval);
}

}  // namespace mrc
