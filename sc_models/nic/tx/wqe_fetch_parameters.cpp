#include "nic/tx/wqe_fetch_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_wqe_fetch_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.wqe_fetch, assumption);
  MRC_NODE(nic.wqe_fetch.prefetch_depth, "WQEs", 1, 4'096, "prefetched WQEs per QP", assumption);
  MRC_NODE(nic.wqe_fetch.wqe_bytes, "bytes", 16, 1'024, "size of a WQE in host memory", assumption);
  MRC_NODE(nic.wqe_fetch.inline_bytes, "bytes", 0, 988,
           "messages up to this length are inline in their WQE, and no payload is read; 0: none", assumption);
  MRC_NODE(nic.wqe_fetch.batch, "WQEs", 1, 64, "maximum WQEs per read", assumption);
}

}  // namespace mrc
