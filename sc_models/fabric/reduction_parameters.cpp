#include "fabric/reduction_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_reduction_parameters(ParameterTable& table) {
  MRC_SCENARIO(fabric.reduction.slots, "slots", 1, 1'048'576,
               "with all_reduce = in_network: slots of a switch, divided evenly among the trees through it, of which a "
               "group uses "
               "the smallest share on its trees; each holds two versions of fabric.reduction.slot_bytes, and is the "
               "window of its tree",
               assumption);
  MRC_SCENARIO(fabric.reduction.slot_bytes, "bytes", 64, 16'384,
               "payload of a packet that switches add, at most protocol.mtu_bytes", assumption);
  MRC_SCENARIO(fabric.reduction.adder_gbps, "Gb/s", 0, 1'000'000,
               "payload that a switch takes in and adds, of all trees and ports together; 0: as fast as it comes",
               assumption);
  MRC_SCENARIO(
      fabric.reduction.adder_latency_ns, "ns", 0, 100'000,
      "from the last bit of the last child's packet, beside the latency of the switch, until the sum can leave",
      assumption);
  MRC_SCENARIO(fabric.reduction.timeout_us, "us", 1, 1'000'000,
               "time without a result after which a NIC retransmits its packet to the switch; it doubles with each "
               "retransmission, to at most 64 times the first",
               assumption);
}

}  // namespace mrc
