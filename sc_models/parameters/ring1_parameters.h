// Rows of ring 1's choices, whose fields are in include/mrc/protocol_config.h: ring 1 knows no registry.
#pragma once

namespace mrc {

class ParameterTable;

void add_protocol_parameters(ParameterTable& table);
void add_congestion_parameters(ParameterTable& table);

}  // namespace mrc
