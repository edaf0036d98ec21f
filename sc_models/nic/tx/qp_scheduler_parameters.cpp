#include "nic/tx/qp_scheduler_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_qp_scheduler_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.qp_scheduler, measured);
  MRC_NODE(nic.qp_scheduler.quantum_bytes, "bytes", 256, k1G,
           "payload that a QP may send before the turn of the next QP", assumption);
  MRC_NODE(nic.qp_scheduler.ack_request_at_turn_end, "", 0, 0,
           "request an ACK in the last packet of a QP's turn; otherwise a SACK that waits for more bytes may arrive "
           "after the timeout",
           assumption);
  MRC_NODE(nic.qp_scheduler.context_cache_entries, "entries", 1, k1M,
           "QP contexts cached on the NIC; a miss is a PCIe read", assumption);
  MRC_NODE(nic.qp_scheduler.contexts_at_start, "entries", 0, k1M,
           "of these, contexts of the first QPs that are on the NIC when the run begins; 0: each is read first",
           assumption);
  MRC_NODE(nic.qp_scheduler.context_bytes, "bytes", 64, 4'096, "size of a QP context", assumption);
  MRC_NODE(nic.qp_scheduler.read_ahead_share, "", 0.001, 1,
           "with more QPs than contexts: share of the contexts that may be read ahead for turns, so that those of "
           "packets on their way stay; at least one context",
           assumption);
  MRC_NODE(nic.qp_scheduler.write_back_entries, "entries", 1, 4'096,
           "contexts that have left the cache and wait for their write over PCIe; without room no other one leaves",
           assumption);
}

}  // namespace mrc
