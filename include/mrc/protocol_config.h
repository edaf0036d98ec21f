// Every choice that the protocol leaves to a deployment or an implementation, with its default and unit. Ranges and
// sources are in the parameter registry alone (`mrcsim params`, docs/parameters.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mrc/encryption.h"
#include "mrc/ev_layout.h"
#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// Which half of the 32-bit EV goes to the UDP source port (sources disagree).
enum class EvHalfOrder : std::uint8_t { low_to_source_port, high_to_source_port };
/// What a responder does with a PSN outside its window (rule 6 against Table 7-3).
enum class OutOfWindow : std::uint8_t { drop, nack };
/// When a SKIP EV is GOOD again (implementation-defined).
enum class SkipDuration : std::uint8_t { rest_of_rotation, one_rotation, fixed_time };
/// Whether feedback changes path selection. oblivious: every EV stays GOOD, for comparison with the path states of
/// MRC.
enum class PathFeedback : std::uint8_t { adaptive, oblivious };
/// State after a probe that came back CE-marked (sources disagree).
enum class ProbeSkipState : std::uint8_t { skip, good };
/// The consecutive timeouts that lengthen a timeout: all of the QP without progress, or those of the packet (a
/// retransmitted packet starts at the default).
enum class TimeoutBackoff : std::uint8_t { qp, packet };
enum class RttSource : std::uint8_t { send_time_table, timestamp };
/// Scope of an EV state table (default per QP: the specification leaves it open).
enum class PathTableScope : std::uint8_t { qp, destination, profile };
/// Scope of a congestion controller.
enum class CongestionScope : std::uint8_t { destination, qp };

struct ProtocolConfig {
  std::uint32_t mtu_bytes = 4096;            ///< payload bytes per packet
  std::uint32_t mpr_units = 8;               ///< 128 PSNs each
  bool dynamic_mpr = false;                  ///< SACK.mpr resizes the window
  std::uint32_t max_write_imm = 128;         ///< WRITE_IMM messages in flight
  std::uint32_t receive_queue_depth = 4096;  ///< receives that a QP's software keeps posted
  /// Local ACK timeout = 1.024 us * 2^t. 5 (32.8 us) outlasts a round trip over three switches
  /// whose queues are full to the trimming threshold (about 8 + 8 + 12 us on top of 4 to 7), so that packets that
  /// only wait are not retransmitted, and is over before one QP has sent its whole MPR at 800 Gb/s (43.6 us).
  std::uint32_t timeout_exponent = 5;
  TimeoutBackoff timeout_backoff = TimeoutBackoff::qp;
  std::uint32_t linear_retries = 7;        ///< timeouts at the base value before it doubles
  std::uint32_t exponential_retries = 25;  ///< doublings before the QP fails; 25 = never fails
  bool trim_nack = true;                   ///< negotiated capability TRIM_NACK

  Encapsulation encapsulation = Encapsulation::srv6;
  double srh_share = 1;           ///< of the QPs, with srv6_srh: those whose packets have an SRH
  std::int64_t first_psn = -1;    ///< of each QP; -1: drawn
  std::uint16_t udp_port = 4791;  ///< destination port
  EvHalfOrder ev_half_order = EvHalfOrder::low_to_source_port;
  EvLayout ev_layout = {};
  bool timestamp_in_us = false;                                       ///< TSETH.tsr: 128 ns or 1 us
  std::array<std::uint8_t, kTrafficRoles> dscp{46, 4, 0, 8, 12, 16};  ///< by TrafficRole
  /// Between the DSCPs of one role in neighboring traffic classes.
  std::uint8_t dscp_class_step = 17;
  /// DSCP of a packet in this role; only data differs by its class.
  constexpr std::uint8_t dscp_of(TrafficRole role, std::uint32_t traffic_class) const {
    constexpr std::uint32_t code_points = 64;
    const std::uint32_t lowest = dscp[static_cast<std::size_t>(role)];
    const std::uint32_t steps = has_traffic_class(role) ? traffic_class : 0;
    return static_cast<std::uint8_t>((lowest + steps * dscp_class_step) % code_points);
  }

  std::uint32_t ev_count = 256;     ///< EVs per profile, active and backup
  std::uint32_t ev_active = 128;    ///< of them in use, a multiple of the planes
  std::uint32_t ev_min_active = 0;  ///< minimum active EVs, counted per plane; 0 = ev_active / 4
  std::uint32_t least_active_evs() const { return ev_min_active == 0 ? ev_active / 4 : ev_min_active; }
  /// Rotations until the scan order is drawn anew; 0 = never. After each, as UEC's reference simulator does: an order
  /// that stays lets NICs of one rate collide on the same links rotation after rotation.
  std::uint32_t reshuffle_rotations = 1;
  SkipDuration skip_duration = SkipDuration::rest_of_rotation;
  TimePs skip_time_ps = 10 * kPsPerUs;   ///< with fixed_time
  std::uint32_t assumed_bad_losses = 1;  ///< losses other than trims that make an EV ASSUMED_BAD
  bool backups_return = false;  ///< an EV of the first active set that was lost takes its place back from a backup
  ProbeSkipState probe_skip_state = ProbeSkipState::skip;
  TimePs probe_interval_ps = 100 * kPsPerUs;  ///< between probes of one ASSUMED_BAD EV
  TimePs probe_timeout_ps = 50 * kPsPerUs;    ///< unanswered by then: lost (the API's example has 2 ms)
  std::uint32_t probe_successes = 3;          ///< consecutive successful probes that make it GOOD
  std::uint32_t probe_backoff = 0;            ///< doublings of the interval at most, one for each probe lost in a row
  std::uint32_t unanswered_probes = 16;       ///< of one path table, at most
  std::uint32_t ev_probe_repeats = 8;         ///< after a duplicate, while EV probes have no answer
  std::uint32_t ev_probe_bytes = 0;           ///< received at least between two EV probes of a QP
  /// CE marks in a row on an EV after which the responder reports ALWAYS_SKIP; 0 = never.
  std::uint32_t always_skip_threshold = 0;
  PathFeedback path_feedback = PathFeedback::adaptive;
  std::string path_policy = "rotation";  ///< which EV is next: a name of path_policy_registry.h
  PathTableScope path_table_scope = PathTableScope::qp;
  CongestionScope congestion_scope = CongestionScope::destination;

  double gap_cwnd_factor = 1.5;  ///< reorder threshold = clamp(factor * cwnd in packets, min, MPR/2)
  std::uint32_t gap_min_packets = 5;
  std::uint32_t sack_threshold_bytes = 16384;  ///< sack_gen_threshold, strictly greater triggers
  std::uint32_t sack_min_add_bytes = 1024;     ///< counter += max(payload, this)
  OutOfWindow out_of_window = OutOfWindow::nack;
  double penalty_start_share = 0;                     ///< rcv_cwnd_pen begins above this share of rx_staging
  double penalty_full_share = 0;                      ///< and is 127 from this share on; 0 = never a penalty
  RttSource rtt_source = RttSource::send_time_table;  ///< or the reflected TSETH
  bool rtt_of_retransmissions = true;                 ///< their SACKs give RTT samples as well
  EncryptionConfig encryption = {};
};

/// Bytes of link time that the packet takes in this deployment, preamble and gap included.
constexpr std::uint32_t wire_bytes(const Packet& packet, const ProtocolConfig& config) {
  return wire_bytes(packet, config.encapsulation, config.encryption);
}
/// As wire_bytes(), for a packet that a switch may have trimmed to `trim_bytes` of its frame.
constexpr std::uint32_t link_bytes(const Packet& packet, const ProtocolConfig& config, std::uint32_t trim_bytes) {
  return link_bytes(packet, config.encapsulation, config.encryption, trim_bytes);
}

/// What delay at or above the target without a CE mark is to NSCC.
enum class UnmarkedDelay : std::uint8_t { fair_increase, as_marked };

/// `uet-1.0-nscc`, the fields of the API's configuration struct plus min and initial window.
/// A value of 0 in a field marked (derived) is computed from base_rtt, line rate and MTU by the UEC formulas.
struct CongestionConfig {
  std::string algorithm = "uet-1.0-nscc";  ///< or "none"
  TimePs base_rtt_ps = 8 * kPsPerUs;       ///< network RTT without queues
  double line_rate_gbps = 800.0;           ///< of the node's ports together; filled in by the NIC
  bool disable_quick_adapt = false;
  std::uint32_t adjust_bytes_threshold = 0;  ///< (derived: 8 MTU)
  TimePs adjust_period_ps = 0;               ///< (derived: base_rtt)
  double eta_bytes = 0;                      ///< (derived: 0.15 * MSS * a)
  double fi_bytes = 0;                       ///< (derived: 5 * MSS * a)
  double fi_scale = 0;                       ///< (derived: 0.25 * a)
  double gamma = 0.8;
  double max_md_jump = 0.5;
  std::uint64_t max_cwnd_bytes = 0;      ///< (derived: 1.5 * BDP)
  std::uint64_t min_cwnd_bytes = 0;      ///< (derived: 1 MTU)
  std::uint64_t initial_cwnd_bytes = 0;  ///< (derived: max_cwnd)
  std::uint32_t qa_gate = 3;             ///< achieved < max_wnd >> gate
  TimePs qa_threshold_ps = 0;            ///< (derived: 4 * target)
  TimePs target_delay_ps = 0;            ///< (derived: 0.75 * base_rtt with trimming, else 1.0)
  double delay_ewma_weight = 0.0125;     ///< of a sample in the average delay
  UnmarkedDelay unmarked_delay = UnmarkedDelay::fair_increase;
  bool base_rtt_is_learned = true;  ///< the smallest RTT seen counts, base_rtt_ps at most; false: base_rtt_ps as it is
  bool last_hop_trim_cuts = true;   ///< with trim_cuts_cwnd: TRIMMED_LASTHOP also reduces the window
  bool last_hop_trim_holds = true;  ///< no larger window for base_rtt + target_delay after TRIMMED_LASTHOP
  bool refusal_triggers_quick_adapt = true;  ///< a NACK for a missing resource of the responder triggers it
  bool loss_triggers_quick_adapt = false;    ///< a packet that is declared lost triggers it
  /// max_cwnd shrinks with the smallest RTT seen, as in UEC 1.0. False: fixed, because the API of MRC has it in bytes.
  bool max_cwnd_follows_rtt = false;
  bool trim_cuts_cwnd = true;  ///< a TRIMMED NACK subtracts the packet
};

}  // namespace mrc
