#include "nic/nic_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_nic_parameters(ParameterTable& table) {
  MRC_NODE(nic.core_clock_ghz, "GHz", 0.1, 5, "clock of the boxes of the NIC", assumption);
  MRC_NODE(nic.datapath_bits, "bit", 128, 4'096, "width of the packet datapath", assumption);
  table.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(nic.ports, "ports", 1, 8, "ports, each in a separate plane", paper);
  MRC_NODE(nic.port_gbps, "Gb/s", 1, 1'600, "line rate of a port", paper);

#define MRC_ADD_BOX(type, name) add_##name##_parameters(table);
  MRC_NIC_BOXES(MRC_ADD_BOX)
#undef MRC_ADD_BOX
  add_nic_memory_parameters(table);
}

}  // namespace mrc
