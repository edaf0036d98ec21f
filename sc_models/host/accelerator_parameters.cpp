#include "host/accelerator_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<PayloadMemory>() {
  return {"host", "gpu_direct", "staged"};
}

void add_accelerator_parameters(ParameterTable& table) {
  MRC_SCENARIO(accelerator.kernel_launch_ns, "ns", 0, 1e6, "launch time of a kernel whose stream is idle", assumption);
  MRC_SCENARIO(accelerator.collective_launch_ns, "ns", 0, 1e6,
               "time from the turn of a collective until its first message is posted", assumption);
  MRC_SCENARIO(accelerator.scale_up_gbps, "Gb/s", 1, 1e6, "rate of a message between two ranks of one NIC", assumption);
  MRC_SCENARIO(accelerator.scale_up_latency_ns, "ns", 1, 1e6, "latency of a message between two ranks of one NIC",
               assumption);
  MRC_SCENARIO(accelerator.payload_memory, "", 0, 0,
               "host: payload is in host memory; gpu_direct: in the accelerator, accessed over PCIe peer to peer; "
               "staged: copied to host memory before a message is posted, and back after it has arrived",
               assumption);
  MRC_SCENARIO(accelerator.direct_read_ns, "ns", 0, 1e5,
               "with gpu_direct, additional time of a payload read compared with host memory", assumption);
  MRC_SCENARIO(
      accelerator.direct_flush_ns, "ns", 0, 1e5,
      "with gpu_direct, time from the completion of a receive until a read ensures that its bytes have arrived",
      assumption);
  MRC_SCENARIO(accelerator.copy_gbps, "Gb/s", 1, 1e6,
               "with staged, rate of the copies of a rank, one at a time per direction", assumption);
  MRC_SCENARIO(accelerator.copy_latency_ns, "ns", 0, 1e6, "with staged, fixed latency of a copy", assumption);
}

}  // namespace mrc
