#include "nic/port_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_port_parameters(ParameterTable& table) {
  MRC_NODE(nic.port.tx_fifo_bytes, "bytes", 512, 64 * k1M, "data on its way to a port, from the choice of the path on",
           assumption);
  MRC_NODE(nic.port.control_fifo_entries, "entries", 1, 65'536, "control packets that wait in front of a port",
           assumption);
  MRC_NODE(nic.port.mac_fec_latency_ns, "ns", 0, 10'000, "MAC and FEC, each direction; adds latency, never bandwidth",
           assumption);
  MRC_NODE(nic.port.down_detect_us, "us", 0, 1e7, "light gone until the NIC sends nothing more through the port",
           assumption);
  MRC_NODE(nic.port.up_detect_us, "us", 0, 1e8, "light back for so long until the NIC uses the port again", assumption);
  MRC_NODE(nic.port.remap_time_us, "us", 0, 1e7,
           "port seen down or up until the walk over the QPs' EV tables begins; published: a few seconds for one NIC",
           assumption);
  MRC_NODE(nic.port.remap_cycles_per_qp, "cycles", 1, k1M, "walk over the EV tables: core cycles a QP", assumption);
}

}  // namespace mrc
