// Parameters of Ultra Ethernet's transport; mtu, congestion window and fabric are those of the other transports.
#pragma once

#include "mrc/uet/uet_config.h"

namespace mrc {

class ParameterTable;

void add_uet_parameters(ParameterTable& table);

}  // namespace mrc
