// The baseline transport, and what switches do for it.
#pragma once

#include <cstdint>

#include "mrc/rocev2/rc_config.h"

namespace mrc {

class ParameterTable;

/// The baseline transport, of all nodes with transport = "rocev2", and what its switches do for it.
struct Rocev2Config {
  RcConfig rc;  ///< without its mtu_bytes: protocol.mtu_bytes holds
  bool dcqcn = true;
  DcqcnConfig rate;
  std::uint64_t ecn_min_bytes = 0;  ///< 0: the paper's 5 KB at 40 Gb/s, by the link's rate
  std::uint64_t ecn_max_bytes = 0;  ///< 0: the paper's 200 KB at 40 Gb/s, by the link's rate
  double ecn_max_probability = 0.01;
  bool pfc = true;
  std::uint64_t pfc_xoff_bytes = 512ULL << 10;  ///< of one ingress port in a switch's buffer
  std::uint64_t pfc_xon_bytes = 448ULL << 10;
};

void add_rocev2_parameters(ParameterTable& table);

}  // namespace mrc
