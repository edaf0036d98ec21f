#include "nic/control/sack_processor_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_sack_processor_parameters(ParameterTable& table) {
  table.node(
      "nic.sack_processor.latency_cycles",
      [](NodeConfig & c) -> auto& { return c.nic.sack_processor.pipeline.latency_cycles; }, "cycles", {1, 10'000},
      "cycles from accepting an item to its result", assumption);
  table.node(
      "nic.sack_processor.initiation_interval_cycles",
      [](NodeConfig & c) -> auto& { return c.nic.sack_processor.pipeline.initiation_interval_cycles; }, "cycles",
      {1, 10'000},
      "cycles from accepting an item to accepting the next; a SACK takes one more per PSN that it passes and per bit",
      measured);
  MRC_NODE(nic.sack_processor.queue_entries, "entries", 1, 65'536,
           "received SACKs, NACKs and ACKs that are not processed", assumption);
  MRC_NODE(nic.sack_processor.context_wait_entries, "entries", 1, 65'536,
           "SACKs, NACKs and ACKs that wait until the context of their QP is read; others pass them", assumption);
}

}  // namespace mrc
