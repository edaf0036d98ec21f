// Switches, cables and their faults by chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/reduction_parameters.h"

namespace mrc {

class ParameterTable;

enum class SwitchForwarding : std::uint8_t { cut_through, store_and_forward };
/// How switches route: static uSID tables, a hash of the flow among equal paths, or the least loaded of them for each
/// packet.
enum class FabricRouting : std::uint8_t { usid, ecmp, adaptive };
/// Where retransmitted packets wait at a switch port.
enum class RetransmissionQueue : std::uint8_t { own, data };
/// What a port's thresholds for marks and trims are compared with: the packet's queue, or all data and retransmissions.
enum class ThresholdScope : std::uint8_t { queue, port };
/// Scheduling among the queues of a switch port.
enum class SwitchScheduling : std::uint8_t { strict, weighted };

/// Encryption of every link by IEEE 802.1AE (MACsec): a SecTAG without or with the sender's channel identifier.
enum class Macsec : std::uint8_t { off, short_tag, long_tag };

/// Forward error correction of links: Reed-Solomon over symbols of 10 bits, RS(n, k) by its n and k.
enum class Fec : std::uint8_t { none, rs272_258, rs528_514, rs544_514 };

/// Of a fabric, two for a cable: an event of the network has 24 bits for a link.
inline constexpr std::uint64_t kMostLinks = 1U << 24;

struct FabricConfig {
  std::uint32_t nics = 2;
  std::uint32_t nics_per_t0 = 256;
  std::uint32_t t0s_per_plane = 0;  ///< 0: as many as the NICs need
  std::uint32_t t1s_per_plane = 0;  ///< over all pods; 0: per pod as many as NICs below a T0
  std::uint32_t t2s_per_plane = 0;  ///< with pods; 0: as many uplinks per T1 as it has T0s
  std::uint32_t pods = 1;           ///< more than one: connected by a third tier
  FabricRouting routing = FabricRouting::usid;
  std::uint32_t locator_block = 0xFC00'0001;
  double cable_delay_ns = 150.0;
  double switch_latency_ns = 575.0;
  double t1_link_gbps = 0;  ///< 0: as nic.port_gbps
  double t1_cable_delay_ns = 150.0;
  double t1_switch_latency_ns = 575.0;
  std::string cable_delays_ns;  ///< of single cables; see CableDelay
  SwitchForwarding forwarding = SwitchForwarding::cut_through;
  SwitchScheduling scheduling = SwitchScheduling::strict;
  RetransmissionQueue retransmission_queue = RetransmissionQueue::own;
  ThresholdScope threshold_scope = ThresholdScope::queue;
  std::uint32_t control_weight = 25;  ///< with weighted scheduling
  std::uint32_t retransmission_weight = 25;
  std::uint32_t data_weight = 50;
  std::uint64_t queue_bytes = 2ULL << 20;    ///< per switch output port
  std::uint64_t buffer_bytes = 64ULL << 20;  ///< per switch, shared by its ports
  double buffer_alpha = 1.0;                 ///< dynamic threshold: multiple of the free buffer that a port may use
  bool ecn = true;
  bool ecn_last_hop = false;
  std::uint64_t ecn_min_bytes = 0;  ///< 0: 0.2 BDP of the link
  std::uint64_t ecn_max_bytes = 0;  ///< 0: 0.8 BDP
  double ecn_max_probability = 1.0;
  bool trim = true;
  std::uint64_t trim_threshold_bytes = 0;  ///< 0: 1 BDP of the link, 1.5 on the last hop
  std::uint32_t trim_bytes = 128;
  double loss_rate = 0;
  double trim_rate = 0;
  double corrupt_rate = 0;
  double duplicate_rate = 0;
  double ecn_rate = 0;
  Fec fec = Fec::none;
  double fec_latency_ns = 100;  ///< of a link: until a codeword is there and corrected; with a code alone
  double bit_error_rate = 0;    ///< before correction
  std::string bit_error_rates;  ///< of single cables; see CableValue
  bool link_retry = false;      ///< a damaged frame is repeated by its link
  double link_retry_turnaround_ns = 200;
  std::uint32_t link_retry_limit = 64;  ///< retransmissions of a frame by its link, after which the frame is lost
  Macsec macsec = Macsec::off;
  double macsec_latency_ns = 50;  ///< of a MAC, each way; with macsec alone
  ReductionConfig reduction;
};

/// Bytes that encryption of the link adds to each frame: SecTAG of 8 or 16 and a tag of 16.
constexpr std::uint32_t macsec_bytes(const FabricConfig& fabric) {
  constexpr std::uint32_t tag = 16;
  if (fabric.macsec == Macsec::off) return 0;
  return (fabric.macsec == Macsec::short_tag ? 8 : 16) + tag;
}
/// What a MAC takes longer with it, each way.
constexpr double macsec_ns(const FabricConfig& fabric) {
  return fabric.macsec == Macsec::off ? 0 : fabric.macsec_latency_ns;
}

/// What a MAC takes longer, each way, with encryption and correction of links: a link has two.
constexpr double mac_added_ns(const FabricConfig& fabric) {
  return macsec_ns(fabric) + (fabric.fec == Fec::none ? 0 : fabric.fec_latency_ns / 2);
}

/// A value of some cables that replaces the common one: an entry of fabric.cable_delays_ns or fabric.bit_error_rates.
struct CableValue {
  std::string where;  ///< "plane3", "nic1", a switch, "above_t0", or a port at either end: "nic1.port3"
  double value = 0;
};

/// The list of fabric.cable_delays_ns. Throws ParameterError where it is malformed or a delay is out of range.
std::vector<CableValue> cable_delays_of(const FabricConfig& fabric, const std::string& place);
/// Likewise of fabric.bit_error_rates.
std::vector<CableValue> bit_error_rates_of(const FabricConfig& fabric, const std::string& place);
/// At least one link may have bit errors.
inline bool has_bit_errors(const FabricConfig& fabric) {
  return fabric.bit_error_rate > 0 || !fabric.bit_error_rates.empty();
}

/// In ns: no cable of a NIC has a shorter delay.
double shortest_cable_ns(const FabricConfig& fabric);

void add_fabric_parameters(ParameterTable& table);

}  // namespace mrc
