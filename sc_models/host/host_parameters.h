// Software on the host, and what lies between its memory and PCIe.
#pragma once

#include <cstdint>

#include "pcie/host_path_parameters.h"

namespace mrc {

class ParameterTable;

/// Whether payload bytes are copied and compared, or only counted.
enum class PayloadMode : std::uint8_t { bytes, reference };

struct HostConfig : HostPathConfig {
  PayloadMode payload = PayloadMode::bytes;
  double post_ns = 100.0;            ///< building a WQE until the doorbell is written
  double doorbell_ns = 300.0;        ///< MMIO write until the NIC sees it
  double wqe_in_doorbell_ns = 20.0;  ///< additional, where the doorbell carries its WQE
  double poll_ns = 50.0;             ///< CQE visible until software knows
  double residual_ns = 2094.5;       ///< message known until what waits for it starts; fitted, see docs/latency.md
};

void add_host_parameters(ParameterTable& table);

}  // namespace mrc
