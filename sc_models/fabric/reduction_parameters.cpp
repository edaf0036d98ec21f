#include "fabric/reduction_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_reduction_parameters(ParameterTable& table) {
  MRC_SCENARIO(fabric.reduction.slots, "slots", 1, 1'048'576,
               "with all_reduce = in_network: slots of a switch, divided evenly among its trees; a group uses the "
               "smallest share on its trees as the window of each, in packets; each slot holds two buffers of "
               "fabric.reduction.slot_bytes",
               assumption);
  MRC_SCENARIO(fabric.reduction.slot_bytes, "bytes", 64, 16'384,
               "payload of a packet that switches add, at most protocol.mtu_bytes", assumption);
  MRC_SCENARIO(fabric.reduction.adder_gbps, "Gb/s", 0, 1'000'000,
               "payload rate of a switch's adder, which all its trees and ports share; 0: unlimited", assumption);
  MRC_SCENARIO(fabric.reduction.adder_latency_ns, "ns", 0, 100'000,
               "from the end of the addition of the last child's packet until the sum can leave, in addition to the "
               "latency of the switch",
               assumption);
  MRC_SCENARIO(fabric.reduction.timeout_us, "us", 1, 1'000'000,
               "time without a result after which a NIC retransmits its packet to the switch; it doubles with each "
               "retransmission, to at most 64 times the first",
               assumption);
}

}  // namespace mrc
