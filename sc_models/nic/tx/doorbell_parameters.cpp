#include "nic/tx/doorbell_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_doorbell_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.doorbell, assumption);
  MRC_NODE(nic.doorbell.queue_entries, "entries", 1, k1M, "doorbell writes on the NIC that are not processed",
           assumption);
  MRC_NODE(
      nic.doorbell.carries_wqe, "", 0, 0,
      "software writes the WQE with the doorbell: it is not read over PCIe if no older one of its QP waits in host "
      "memory",
      assumption);
}

}  // namespace mrc
