#include "nic/rx/rx_staging_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_rx_staging_parameters(ParameterTable& table) {
  MRC_NODE(nic.rx_staging.bytes, "bytes", 256, 1024 * k1M, "payload that waits for its write to host memory",
           assumption);
}

}  // namespace mrc
