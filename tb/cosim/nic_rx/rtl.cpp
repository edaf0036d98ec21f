#include "cosim/nic_rx/rtl.h"

#include "Vnic_rx_1024.h"
#include "cosim/nic_rx/adapter.h"

namespace mrc {

NicRxEngines make_nic_rx_rtl(const PsnTrackerSizes& sizes, const NicRxSettings& settings, std::uint32_t sack_cycles) {
  check_psn_tracker_sizes(sizes);
  return make_joined_engines<Vnic_rx_1024>(settings, sack_cycles);
}

}  // namespace mrc
