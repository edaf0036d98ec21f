#include "nic/rx/psn_tracker_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_psn_tracker_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.psn_tracker, measured);
  MRC_NODE(nic.psn_tracker.bitmap_banks, "banks", 1, k1M, "128-bit banks for PSNs received out of order, all QPs",
           assumption);
  MRC_NODE(nic.psn_tracker.queue_entries, "entries", 1, 65'536, "packets between parser, psn_tracker and dma_write",
           assumption);
  MRC_NODE(nic.psn_tracker.context_wait_entries, "entries", 1, 65'536,
           "packets that wait until the context of their QP is read; others pass them", assumption);
}

}  // namespace mrc
