#pragma once

#include <cstdint>

namespace mrc {

class ParameterTable;

struct PortConfig {
  std::uint32_t tx_fifo_bytes = 16384;
  std::uint32_t control_fifo_entries = 16;
  std::uint32_t encap_fifo_entries = 16;
  std::uint32_t encrypt_fifo_entries = 16;
  double mac_fec_latency_ns = 100.0;
  double down_detect_us = 10.0;            ///< light gone until the NIC acts on it
  double up_detect_us = 100.0;             ///< light back until the port is used again
  double remap_time_us = 10.0;             ///< port seen down or up until the walk over the QPs' EV tables begins
  std::uint32_t remap_cycles_per_qp = 16;  ///< of that walk
};

void add_port_parameters(ParameterTable& table);

}  // namespace mrc
