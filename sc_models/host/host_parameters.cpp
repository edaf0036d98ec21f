#include "host/host_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<PayloadMode>() {
  return {"bytes", "reference"};
}

void add_host_parameters(ParameterTable& table) {
  MRC_NODE(host.payload, "", 0, 0, "bytes: payload is copied and compared; reference: payload is only counted",
           assumption);
  MRC_NODE(host.post_ns, "ns", 0, 1e6, "time from building a WQE until the doorbell is written", assumption);
  table.plausible(50, 200);
  MRC_NODE(host.doorbell_ns, "ns", 0, 1e6, "time from the doorbell write until the NIC sees it", assumption);
  table.plausible(150, 500);
  MRC_NODE(host.wqe_in_doorbell_ns, "ns", 0, 1e6,
           "additional time until the NIC sees a doorbell that carries its WQE (nic.doorbell.carries_wqe)", assumption);
  MRC_NODE(host.poll_ns, "ns", 0, 1e6, "time from a visible CQE until software knows", assumption);
  table.plausible(20, 150);
  MRC_NODE(host.residual_ns, "ns", 0, 1e6,
           "time from software knowing that a message has arrived until dependent work may start: the part of a "
           "published 2-byte write latency that no other term explains",
           calibrated);
  add_host_path_parameters(table);
  MRC_NODE(
      host.programs.post_ns, "ns", 0, 1e6,
      "mrcsim host: time of the calling thread for a work request, beside host.post_ns until its doorbell is written",
      assumption);
  MRC_NODE(host.programs.poll_ns, "ns", 0, 1e6,
           "mrcsim host: time of the calling thread for a look at a completion queue", assumption);
  MRC_NODE(host.programs.clock_read_ns, "ns", 1, 1e6, "mrcsim host: time of the calling thread for reading a clock",
           assumption);
  MRC_NODE(host.programs.tsc_read_ns, "ns", 1, 1e6, "mrcsim host: time of the calling thread for rdtsc", assumption);
  MRC_NODE(host.programs.control_us, "us", 0, 1e6,
           "mrcsim host: time of the calling thread for a verb that is not on the data path", assumption);
  MRC_NODE(host.programs.qps, "QPs", 1, 16'384, "mrcsim host: QPs that programs of a node may create during a run",
           assumption);
}

}  // namespace mrc
