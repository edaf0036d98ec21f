#include "nic/tx/payload_fetch_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_payload_fetch_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.payload_fetch, assumption);
  MRC_NODE(nic.payload_fetch.queue_entries, "entries", 1, 65'536,
           "packets whose payload is being read or waits for a path", assumption);
}

}  // namespace mrc
