#include "nic/control/ack_coalescer_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_ack_coalescer_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.ack_coalescer, measured);
  MRC_NODE(nic.ack_coalescer.queue_entries, "entries", 3, 65'536, "responses that are due and not yet built",
           assumption);
}

}  // namespace mrc
