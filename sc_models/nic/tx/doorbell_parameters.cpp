#include "nic/tx/doorbell_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_doorbell_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.doorbell, assumption);
  MRC_NODE(nic.doorbell.queue_entries, "entries", 1, k1M, "doorbell writes on the NIC that are not processed",
           assumption);
}

}  // namespace mrc
