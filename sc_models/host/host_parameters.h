// Software on the host, and what lies between its memory and PCIe.
#pragma once

#include <cstdint>

#include "pcie/host_path_parameters.h"

namespace mrc {

class ParameterTable;

/// Whether payload bytes are copied and compared, or only counted.
enum class PayloadMode : std::uint8_t { bytes, reference };

/// What programs that run on the model pay for their calls, of the time of the thread that calls.
struct ProgramsConfig {
  double post_ns = 40;        ///< a work request
  double poll_ns = 20;        ///< a look at a completion queue
  double clock_read_ns = 25;  ///< clock_gettime() and its like
  double tsc_read_ns = 8;     ///< rdtsc
  double control_us = 1;      ///< any other verb: registration, QP states
  std::uint32_t qps = 256;    ///< that programs of a node may create, over the whole run
};

struct HostConfig : HostPathConfig {
  PayloadMode payload = PayloadMode::bytes;
  double post_ns = 100.0;            ///< building a WQE until the doorbell is written
  double doorbell_ns = 300.0;        ///< MMIO write until the NIC sees it
  double wqe_in_doorbell_ns = 20.0;  ///< additional, where the doorbell carries its WQE
  double poll_ns = 50.0;             ///< CQE visible until software knows
  double residual_ns = 2094.5;       ///< message known until what waits for it starts; fitted, see docs/latency.md
  ProgramsConfig programs;
};

void add_host_parameters(ParameterTable& table);

}  // namespace mrc
