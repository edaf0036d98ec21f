#include "nic/port_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_port_parameters(ParameterTable& table) {
  MRC_NODE(nic.port.tx_fifo_bytes, "bytes", 512, 64 * k1M, "data queued for a port, from path selection on",
           assumption);
  MRC_NODE(nic.port.control_fifo_entries, "entries", 1, 65'536, "control packets that wait in front of a port",
           assumption);
  MRC_NODE(nic.port.encap_fifo_entries, "entries", 1, 65'536,
           "control packets that wait for srv6_encap on their way to a port, with nic.srv6_encap.control_packets",
           assumption);
  MRC_NODE(nic.port.encrypt_fifo_entries, "entries", 1, 65'536,
           "control packets that wait for encrypt on their way to a port, with protocol.encryption.control",
           assumption);
  MRC_NODE(nic.port.mac_fec_latency_ns, "ns", 0, 10'000,
           "latency of MAC and FEC per direction; does not limit bandwidth", assumption);
  table.plausible(50, 200);
  MRC_NODE(nic.port.down_detect_us, "us", 0, 1e7, "time without signal until the NIC stops sending through the port",
           assumption);
  MRC_NODE(nic.port.up_detect_us, "us", 0, 1e8, "time with signal until the NIC uses the port again", assumption);
  MRC_NODE(nic.port.remap_time_us, "us", 0, 1e7,
           "time from detecting a port as down or up until the walk over the EV tables of the QPs begins; published: a "
           "few seconds for one NIC",
           assumption);
  MRC_NODE(nic.port.remap_cycles_per_qp, "cycles", 1, k1M, "walk over the EV tables: core cycles per QP", assumption);
}

}  // namespace mrc
