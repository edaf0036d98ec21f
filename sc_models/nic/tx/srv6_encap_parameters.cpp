#include "nic/tx/srv6_encap_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_srv6_encap_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.srv6_encap, measured);
}

}  // namespace mrc
