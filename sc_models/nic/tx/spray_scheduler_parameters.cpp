#include "nic/tx/spray_scheduler_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_spray_scheduler_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.spray_scheduler, measured);
  MRC_NODE(nic.spray_scheduler.queue_entries, "entries", 1, 65'536,
           "packets between spray_scheduler and retransmit_buffer", assumption);
  MRC_NODE(
      nic.spray_scheduler.order_buffers, "orders", 1, 2,
      "scan orders that a path table holds, 2 as our RTL: the next comes in beside the packets, an EV a cycle; with 1 "
      "no packet is served meanwhile",
      measured);
}

}  // namespace mrc
