#include "nic/tx/spray_scheduler_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_spray_scheduler_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.spray_scheduler, measured);
  MRC_NODE(nic.spray_scheduler.queue_entries, "entries", 1, 65'536,
           "packets between spray_scheduler and retransmit_buffer", assumption);
  MRC_NODE(nic.spray_scheduler.order_buffers, "orders", 1, 2,
           "scan orders per path table; 2 (as the RTL): the next order is loaded while packets are processed, one EV "
           "per cycle; 1: packets wait during the load",
           measured);
}

}  // namespace mrc
