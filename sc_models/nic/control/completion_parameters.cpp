#include "nic/control/completion_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_completion_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.completion, assumption);
  MRC_NODE(nic.completion.queue_entries, "entries", 1, 65'536, "completions that wait for their CQE write", assumption);
  MRC_NODE(nic.completion.cqe_bytes, "bytes", 16, 128, "size of a CQE", assumption);
  MRC_NODE(nic.completion.cq_entries, "entries", 1, k1M,
           "completion queue in host memory; software frees an entry when it polls it", assumption);
  MRC_NODE(nic.completion.moderation_count, "CQEs", 1, 256,
           "CQEs combined in one write; 1: each is written immediately", assumption);
  MRC_NODE(nic.completion.moderation_us, "us", 0, 1e6, "maximum time that a CQE waits to be combined", assumption);
}

}  // namespace mrc
