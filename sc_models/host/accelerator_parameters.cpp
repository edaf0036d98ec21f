#include "host/accelerator_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<PayloadMemory>() {
  return {"host", "gpu_direct", "staged"};
}

void add_accelerator_parameters(ParameterTable& table) {
  MRC_SCENARIO(accelerator.kernel_launch_ns, "ns", 0, 1e6, "launch of a kernel whose stream is idle", assumption);
  MRC_SCENARIO(accelerator.collective_launch_ns, "ns", 0, 1e6,
               "from a collective's turn until its first message is posted", assumption);
  MRC_SCENARIO(accelerator.scale_up_gbps, "Gb/s", 1, 1e6, "rate of a message between two ranks of one NIC", assumption);
  MRC_SCENARIO(accelerator.scale_up_latency_ns, "ns", 1, 1e6, "latency of a message between two ranks of one NIC",
               assumption);
  MRC_SCENARIO(accelerator.payload_memory, "", 0, 0,
               "host: payload is where the NIC's reads and writes are those of host memory; gpu_direct: in the "
               "accelerator, reached over PCIe peer to peer; staged: copied to host memory before a message is posted, "
               "and back when it has come",
               assumption);
  MRC_SCENARIO(accelerator.direct_read_ns, "ns", 0, 1e5,
               "with gpu_direct, what a payload read takes longer than one of host memory", assumption);
  MRC_SCENARIO(accelerator.direct_flush_ns, "ns", 0, 1e5,
               "with gpu_direct, from a receive's completion until a read has shown that its bytes are there",
               assumption);
  MRC_SCENARIO(accelerator.copy_gbps, "Gb/s", 1, 1e6, "with staged, rate of a rank's copies, one at a time a direction",
               assumption);
  MRC_SCENARIO(accelerator.copy_latency_ns, "ns", 0, 1e6, "with staged, of a copy, beside its bytes", assumption);
}

}  // namespace mrc
