// The accelerators behind the NICs.
#pragma once

#include <cstdint>

namespace mrc {

class ParameterTable;

/// Location of the payload when the NIC reads or writes it.
enum class PayloadMemory : std::uint8_t { host, gpu_direct, staged };

struct AcceleratorConfig {
  double kernel_launch_ns = 1000;      ///< of a kernel whose stream is idle
  double collective_launch_ns = 2000;  ///< until the first message is posted
  double scale_up_gbps = 3600;         ///< of messages between ranks of one node
  double scale_up_latency_ns = 1000;
  PayloadMemory payload_memory = PayloadMemory::host;
  double direct_read_ns = 300;  ///< with gpu_direct, additional time of a payload read
  double direct_flush_ns =
      1000;                ///< with gpu_direct, time from the CQE of a message until its bytes have certainly arrived
  double copy_gbps = 400;  ///< with staged, a copy between the accelerator's memory and the host's
  double copy_latency_ns = 2000;  ///< with staged, fixed latency of a copy
};

/// Additional time of a payload read compared with host memory, in ns.
inline double payload_read_extra_ns(const AcceleratorConfig& accelerator) {
  return accelerator.payload_memory == PayloadMemory::gpu_direct ? accelerator.direct_read_ns : 0;
}

void add_accelerator_parameters(ParameterTable& table);

}  // namespace mrc
