#include "fabric/fabric_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<SwitchForwarding>() {
  return {"cut_through", "store_and_forward"};
}
template <>
std::vector<std::string> words_of<FabricRouting>() {
  return {"usid", "ecmp"};
}
template <>
std::vector<std::string> words_of<SwitchScheduling>() {
  return {"strict", "weighted"};
}

void add_fabric_parameters(ParameterTable& table) {
  MRC_SCENARIO(fabric.nics, "NICs", 2, 131'072, "NICs, each with a port in every plane", paper);
  MRC_SCENARIO(fabric.nics_per_t0, "NICs", 1, 2'047,
               "NICs below a T0; all below one T0 a plane make a fabric of one tier", paper);
  MRC_SCENARIO(fabric.t0s_per_plane, "switches", 0, 2'047, "T0s a plane; 0: as many as the NICs need", paper);
  MRC_SCENARIO(fabric.t1s_per_plane, "switches", 0, 2'047,
               "T1s a plane, each with a link to every T0 of its pod; 0: as many a pod as NICs below a T0", paper);
  MRC_SCENARIO(fabric.pods, "pods", 1, 256, "more than one: T2s join them (three tiers, fabric.routing = ecmp)", paper);
  MRC_SCENARIO(fabric.t2s_per_plane, "switches", 0, 65'536, "T2s a plane, with pods; 0: no oversubscription",
               assumption);
  MRC_SCENARIO(fabric.routing, "", 0, 0,
               "usid: static SRv6 uSID tables, the EV chooses the T1; ecmp: each switch hashes addresses and EV",
               paper);
  MRC_SCENARIO(fabric.locator_block, "", 0, 4'294'967'295.0, "32-bit locator block of all uSIDs", assumption);
  MRC_SCENARIO(fabric.cable_delay_ns, "ns", 1, 1e6, "propagation of a NIC's cable", assumption);
  MRC_SCENARIO(fabric.switch_latency_ns, "ns", 0, 1e6, "T0: first bit in until first bit out, without waiting",
               calibrated);
  MRC_SCENARIO(fabric.t1_link_gbps, "Gb/s", 0, 1'600, "rate of the links above T0; 0: as nic.port_gbps", paper);
  MRC_SCENARIO(fabric.t1_cable_delay_ns, "ns", 1, 1e6, "propagation of a cable above T0", assumption);
  MRC_SCENARIO(fabric.t1_switch_latency_ns, "ns", 0, 1e6, "T1 and T2: first bit in until first bit out", assumption);
  MRC_SCENARIO(fabric.forwarding, "", 0, 0, "when a switch starts to send", assumption);
  MRC_SCENARIO(
      fabric.scheduling, "", 0, 0,
      "service of a port's queues: control and trimmed, retransmissions, data; strict in this order or weighted",
      assumption);
  MRC_SCENARIO(fabric.control_weight, "", 1, 10'000, "bytes in turn of control and trimmed packets, weighted",
               assumption);
  MRC_SCENARIO(fabric.retransmission_weight, "", 1, 10'000, "of retransmissions", assumption);
  MRC_SCENARIO(fabric.data_weight, "", 1, 10'000, "of other data", assumption);
  MRC_SCENARIO(fabric.queue_bytes, "bytes", 16'384, 1024 * k1M, "queues of a switch's output port together, at most",
               assumption);
  MRC_SCENARIO(fabric.buffer_bytes, "bytes", 65'536, 1024 * k1M, "buffer of a switch that its ports share", assumption);
  MRC_SCENARIO(fabric.buffer_alpha, "", 0.001, 1024,
               "dynamic threshold: a port holds at most this multiple of what is free in the buffer", assumption);
  MRC_SCENARIO(fabric.ecn, "", 0, 0, "switches mark data that waits behind long queues", paper);
  MRC_SCENARIO(fabric.ecn_last_hop, "", 0, 0, "also at the ports to the NICs", paper);
  MRC_SCENARIO(fabric.ecn_min_bytes, "bytes", 0, 1024 * k1M,
               "queue from which on marking begins; 0: 0.2 of the link's rate * cc.base_rtt_ns", assumption);
  MRC_SCENARIO(fabric.ecn_max_bytes, "bytes", 0, 1024 * k1M, "queue from which on all is marked; 0: 0.8 of it",
               assumption);
  MRC_SCENARIO(fabric.ecn_max_probability, "", 0, 1, "share marked just below fabric.ecn_max_bytes", assumption);
  MRC_SCENARIO(fabric.trim, "", 0, 0, "trim data that would be dropped (with protocol.trim_nack)", paper);
  MRC_SCENARIO(fabric.trim_threshold_bytes, "bytes", 0, 1024 * k1M,
               "data queue beyond which packets are trimmed; 0: rate * cc.base_rtt_ns, on the last hop 1.5 times that",
               assumption);
  MRC_SCENARIO(fabric.trim_bytes, "bytes", 74, 256, "frame bytes that trimming keeps, at least up to BTH", assumption);
  MRC_SCENARIO(fabric.loss_rate, "", 0, 1, "probability that a packet is lost on its NIC's link into the fabric",
               assumption);
  MRC_SCENARIO(fabric.trim_rate, "", 0, 1, "probability that a data packet is trimmed there", assumption);
  MRC_SCENARIO(fabric.corrupt_rate, "", 0, 1, "probability that a bit of a packet is inverted there", assumption);
  MRC_SCENARIO(fabric.duplicate_rate, "", 0, 1, "probability that a packet arrives twice", assumption);
  MRC_SCENARIO(fabric.ecn_rate, "", 0, 1, "probability that a data packet is CE-marked there", assumption);
}

}  // namespace mrc
