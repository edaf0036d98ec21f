#include "fabric/fabric_parameters.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "parameters/comma_list.h"
#include "parameters/parameter_table.h"
#include "parameters/parameter_value.h"
#include "parameters/quantity.h"

namespace mrc {
namespace {

constexpr double kLeastNs = 1;
constexpr double kMostNs = 1e6;
constexpr double kMostBitErrorRate = 0.5;

/// Entries WHERE=NUMBER, separated by commas. `read(entry, number)` returns the value or throws; `number` is empty if
/// either part is missing.
template <typename Read>
std::vector<CableValue> cable_values(std::string_view list, Read read) {
  std::vector<CableValue> values;
  for (const std::string_view entry : comma_list(list)) {
    const auto equals = entry.find('=');
    const std::string_view where = trimmed(entry.substr(0, equals));
    const bool has_both = equals != std::string_view::npos && !where.empty();
    const double value = read(entry, has_both ? trimmed(entry.substr(equals + 1)) : std::string_view());
    values.push_back({std::string(where), value});
  }
  return values;
}

}  // namespace

using enum ParameterSource;

template <>
std::vector<std::string> words_of<SwitchForwarding>() {
  return {"cut_through", "store_and_forward"};
}
template <>
std::vector<std::string> words_of<FabricRouting>() {
  return {"usid", "ecmp", "adaptive"};
}
template <>
std::vector<std::string> words_of<Fec>() {
  return {"none", "rs272_258", "rs528_514", "rs544_514"};
}
template <>
std::vector<std::string> words_of<Macsec>() {
  return {"off", "short_tag", "long_tag"};
}
template <>
std::vector<std::string> words_of<SwitchScheduling>() {
  return {"strict", "weighted"};
}
template <>
std::vector<std::string> words_of<RetransmissionQueue>() {
  return {"own", "data"};
}
template <>
std::vector<std::string> words_of<ThresholdScope>() {
  return {"queue", "port"};
}

void add_fabric_parameters(ParameterTable& table) {
  MRC_SCENARIO(fabric.nics, "NICs", 2, 131'072, "NICs, each with a port in every plane", paper);
  MRC_SCENARIO(fabric.nics_per_t0, "NICs", 1, 2'047,
               "NICs below a T0; if all are below one T0, the fabric has one tier", paper);
  MRC_SCENARIO(fabric.t0s_per_plane, "switches", 0, 2'047, "T0s per plane; 0: as many as the NICs need", paper);
  MRC_SCENARIO(fabric.t1s_per_plane, "switches", 0, 2'047,
               "T1s per plane, each with a link to every T0 of its pod; 0: per pod as many as NICs below a T0", paper);
  MRC_SCENARIO(fabric.pods, "pods", 1, 256,
               "pods; more than one are connected by T2s (three tiers, fabric.routing = ecmp)", paper);
  MRC_SCENARIO(fabric.t2s_per_plane, "switches", 0, 65'536, "T2s per plane, with pods; 0: no oversubscription",
               assumption);
  MRC_SCENARIO(
      fabric.routing, "", 0, 0,
      "usid: static SRv6 uSID tables, the EV selects the T1; ecmp: each switch hashes addresses and EV; adaptive: each "
      "packet takes the uplink with the shortest queue",
      paper);
  MRC_SCENARIO(fabric.locator_block, "", 0, 4'294'967'295.0, "32-bit locator block of all uSIDs", assumption);
  MRC_SCENARIO(fabric.cable_delay_ns, "ns", 1, 1e6, "propagation delay of the cable of a NIC", assumption);
  table.plausible(10, 250);
  MRC_SCENARIO(fabric.switch_latency_ns, "ns", 0, 1e6, "T0: time from first bit in to first bit out, without queueing",
               calibrated);
  MRC_SCENARIO(fabric.t1_link_gbps, "Gb/s", 0, 1'600, "rate of the links above T0; 0: as nic.port_gbps", paper);
  MRC_SCENARIO(fabric.t1_cable_delay_ns, "ns", 1, 1e6, "propagation delay of a cable above T0", assumption);
  table.plausible(50, 2500);
  MRC_SCENARIO(
      fabric.cable_delays_ns, "", 0, 0,
      "other delays of single cables, both ways, such as \"plane3=500, nic1.port2=900, plane0.t0.1.up2=2000\"; a "
      "later one counts",
      assumption);
  MRC_SCENARIO(fabric.t1_switch_latency_ns, "ns", 0, 1e6, "T1 and T2: time from first bit in to first bit out",
               assumption);
  MRC_SCENARIO(fabric.forwarding, "", 0, 0, "time at which a switch starts to send a packet", assumption);
  MRC_SCENARIO(
      fabric.scheduling, "", 0, 0,
      "service of the queues of a port: control and trimmed, retransmissions, data; strict in this order or weighted",
      assumption);
  MRC_SCENARIO(fabric.retransmission_queue, "", 0, 0,
               "queue of retransmitted packets at a switch: own, or that of data, because their DSCP is not mandatory",
               assumption);
  MRC_SCENARIO(
      fabric.threshold_scope, "", 0, 0,
      "what the thresholds for marks and trims are compared with: the queue of the packet, as buffer profiles of "
      "switches are, or data and retransmissions of the port together; with several traffic classes always those of a "
      "class",
      assumption);
  MRC_SCENARIO(fabric.control_weight, "", 1, 10'000, "with weighted scheduling: weight of control and trimmed packets",
               assumption);
  MRC_SCENARIO(fabric.retransmission_weight, "", 1, 10'000, "with weighted scheduling: weight of retransmissions",
               assumption);
  MRC_SCENARIO(fabric.data_weight, "", 1, 10'000, "with weighted scheduling: weight of other data", assumption);
  MRC_SCENARIO(fabric.queue_bytes, "bytes", 16'384, 1024 * k1M,
               "maximum of all queues of a switch output port together", assumption);
  MRC_SCENARIO(fabric.buffer_bytes, "bytes", 65'536, 1024 * k1M, "buffer of a switch, shared by its ports", assumption);
  MRC_SCENARIO(fabric.buffer_alpha, "", 0.001, 1024,
               "dynamic threshold: a port uses at most this multiple of the free space of the buffer", assumption);
  MRC_SCENARIO(fabric.ecn, "", 0, 0, "switches mark data in long queues", paper);
  MRC_SCENARIO(fabric.ecn_last_hop, "", 0, 0, "switches also mark at the ports to the NICs", paper);
  MRC_SCENARIO(fabric.ecn_min_bytes, "bytes", 0, 1024 * k1M,
               "queue above which marking begins; 0: 0.2 * link rate * cc.base_rtt_ns", assumption);
  MRC_SCENARIO(fabric.ecn_max_bytes, "bytes", 0, 1024 * k1M,
               "queue above which all packets are marked; 0: 0.8 * link rate * cc.base_rtt_ns", assumption);
  MRC_SCENARIO(fabric.ecn_max_probability, "", 0, 1, "share of packets marked just below fabric.ecn_max_bytes",
               assumption);
  MRC_SCENARIO(fabric.trim, "", 0, 0, "switches trim data that would be dropped (with protocol.trim_nack)", paper);
  MRC_SCENARIO(
      fabric.trim_threshold_bytes, "bytes", 0, 1024 * k1M,
      "data queue above which packets are trimmed; 0: link rate * cc.base_rtt_ns, on the last hop 1.5 times that",
      assumption);
  MRC_SCENARIO(fabric.trim_bytes, "bytes", 74, 256, "frame bytes that remain after trimming, at least up to BTH",
               assumption);
  MRC_SCENARIO(fabric.loss_rate, "", 0, 1, "probability that a packet is lost on the link from its NIC into the fabric",
               assumption);
  MRC_SCENARIO(fabric.trim_rate, "", 0, 1, "probability that a data packet is trimmed on that link", assumption);
  MRC_SCENARIO(fabric.corrupt_rate, "", 0, 1, "probability that a bit of a packet is inverted on that link",
               assumption);
  MRC_SCENARIO(fabric.duplicate_rate, "", 0, 1, "probability that a packet arrives twice", assumption);
  MRC_SCENARIO(fabric.ecn_rate, "", 0, 1, "probability that a data packet is CE-marked on that link", assumption);
  MRC_SCENARIO(fabric.fec, "", 0, 0,
               "forward error correction of all links: none, or Reed-Solomon RS(n, k) over symbols of 10 bits; "
               "rs544_514 is KP4, rs528_514 KR4, rs272_258 has low latency",
               assumption);
  MRC_SCENARIO(fabric.fec_latency_ns, "ns", 0, 10'000,
               "with a code: a link takes this longer, for the codeword to arrive and to be corrected", assumption);
  table.plausible(20, 250);
  MRC_SCENARIO(fabric.bit_error_rate, "", 0, kMostBitErrorRate,
               "bit errors of every link before correction, independent of each other; what the code leaves is lost in "
               "whole frames",
               assumption);
  MRC_SCENARIO(fabric.bit_error_rates, "", 0, 0,
               "bit error rates of single cables, in both directions, instead of fabric.bit_error_rate, such as "
               "\"above_t0=1e-6, nic1.port2=1e-4, plane0.t1.3=1e-3\"; of several entries for a cable the last applies",
               assumption);
  MRC_SCENARIO(fabric.link_retry, "", 0, 0,
               "a damaged frame is repeated by its link, with all behind it, instead of being lost", assumption);
  MRC_SCENARIO(fabric.link_retry_turnaround_ns, "ns", 0, 10'000,
               "with link_retry: both ends together, from a damaged frame to the first that is repeated, beside the "
               "cable",
               assumption);
  MRC_SCENARIO(fabric.link_retry_limit, "", 1, 65'535,
               "with link_retry: a frame that is still damaged after this many retransmissions is lost", assumption);
  MRC_SCENARIO(
      fabric.macsec, "", 0, 0,
      "encryption of every link (IEEE 802.1AE): off, or a SecTAG of 8 bytes (short_tag) or 16 with the channel "
      "identifier (long_tag), and a tag of 16 bytes on each frame",
      assumption);
  MRC_SCENARIO(
      fabric.macsec_latency_ns, "ns", 0, 10'000,
      "with fabric.macsec: latency of the cipher in a MAC of a NIC or switch, each way; it keeps the line rate",
      assumption);
  add_reduction_parameters(table);
}

std::vector<CableValue> cable_delays_of(const FabricConfig& fabric, const std::string& place) {
  return cable_values(fabric.cable_delays_ns, [&](std::string_view entry, std::string_view number) {
    const bool has_unit = unit_behind_number(number) != "";
    const double ns = parse_quantity(has_unit ? std::string(number) : fmt::format("{}ns", number), "ns").value_or(0);
    if (ns >= kLeastNs && ns <= kMostNs) return ns;
    throw ParameterError(place,
                         fmt::format("fabric.cable_delays_ns: \"{}\": expected WHERE=DELAY, such as plane3=500 or "
                                     "nic1.port2=0.9us, with {} to {} ns",
                                     entry, kLeastNs, kMostNs));
  });
}

std::vector<CableValue> bit_error_rates_of(const FabricConfig& fabric, const std::string& place) {
  return cable_values(fabric.bit_error_rates, [&](std::string_view entry, std::string_view number) {
    double rate = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rate);
    const bool whole = error == std::errc() && end == number.data() + number.size();
    if (whole && rate >= 0 && rate <= kMostBitErrorRate) return rate;
    throw ParameterError(place,
                         fmt::format("fabric.bit_error_rates: \"{}\": expected WHERE=RATE, such as above_t0=1e-6 or "
                                     "nic1.port2=1e-4, with 0 to {}",
                                     entry, kMostBitErrorRate));
  });
}

double shortest_cable_ns(const FabricConfig& fabric) {
  double shortest = fabric.cable_delay_ns;
  for (const CableValue& cable : cable_delays_of(fabric, "")) shortest = std::min(shortest, cable.value);
  return shortest;
}

}  // namespace mrc
