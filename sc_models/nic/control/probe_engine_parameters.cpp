#include "nic/control/probe_engine_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_probe_engine_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.probe_engine, assumption);
  MRC_NODE(nic.probe_engine.outstanding_probes, "probes", 1, 16'384, "probes sent and not answered", assumption);
}

}  // namespace mrc
