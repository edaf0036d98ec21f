#include "nic/control/control_queue_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_control_queue_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.control_queue, assumption);
  MRC_NODE(nic.control_queue.entries, "entries", 1, 65'536, "control packets that wait for a port", assumption);
}

}  // namespace mrc
