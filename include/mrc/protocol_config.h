// Every choice that the protocol leaves to a deployment or an implementation, with default, unit, range and source.
// Sources as in the parameter registry: spec, paper, api, assumption.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// Which half of the 32-bit EV goes to the UDP source port (sources disagree).
enum class EvHalfOrder : std::uint8_t { low_to_source_port, high_to_source_port };
/// What a responder does with a PSN outside its window (rule 6 against Table 7-3).
enum class OutOfWindow : std::uint8_t { drop, nack };
/// When a SKIP EV is GOOD again (implementation-defined).
enum class SkipDuration : std::uint8_t { rest_of_rotation, one_rotation, fixed_time };
/// Whether what packets meet with changes the choice of paths. oblivious: every EV stays GOOD whatever happens, the
/// spray that MRC's path states are compared with.
enum class PathFeedback : std::uint8_t { adaptive, oblivious };
/// State after a probe that came back CE-marked (MANI says SKIP, EMU says GOOD).
enum class ProbeSkipState : std::uint8_t { skip, good };
/// Whose timeouts in a row lengthen a timeout: all of the QP's without progress, or the packet's own (a
/// retransmitted packet starts at the default again).
enum class TimeoutBackoff : std::uint8_t { qp, packet };
enum class RttSource : std::uint8_t { send_time_table, timestamp };
/// Who shares one EV state table (default per QP: the specification leaves it open).
enum class PathTableScope : std::uint8_t { qp, destination, profile };
/// Who shares one congestion controller (OCP MRC 1.0).
enum class CongestionScope : std::uint8_t { destination, qp };

struct ProtocolConfig {
  std::uint32_t mtu_bytes = 4096;            ///< payload bytes a packet, 256 … 16,384 (api: 256 … 4,096)
  std::uint32_t mpr_units = 8;               ///< 128 PSNs each, 1 … 255 (api)
  bool dynamic_mpr = false;                  ///< SACK.mpr resizes the window (spec; policy assumption)
  std::uint32_t max_write_imm = 128;         ///< WRITE_IMM messages in flight, 1 … 65,535 (api)
  std::uint32_t receive_queue_depth = 4096;  ///< receives that a QP's software keeps posted, 1 … 65,536 (assumption)
  /// Local ACK timeout = 1.024 us * 2^t, 0 … 24 (assumption). 5 (32.8 us) outlasts a round trip over three switches
  /// whose queues are full to the trimming threshold (about 8 + 8 + 12 us on top of 4 to 7), so that nothing is sent
  /// again that only waits, and is over before one QP has sent its whole MPR at 800 Gb/s (43.6 us).
  std::uint32_t timeout_exponent = 5;
  TimeoutBackoff timeout_backoff = TimeoutBackoff::qp;  ///< (assumption)
  std::uint32_t linear_retries = 7;                     ///< 0 … 7 (api)
  std::uint32_t exponential_retries = 25;               ///< 0 … 25, 25 = infinite (api)
  bool trim_nack = true;                                ///< negotiated capability TRIM_NACK (spec)

  Encapsulation encapsulation = Encapsulation::srv6;
  std::uint16_t udp_port = 4791;  ///< destination port (MANI)
  EvHalfOrder ev_half_order = EvHalfOrder::low_to_source_port;
  bool timestamp_in_us = false;                                       ///< TSETH.tsr: 128 ns or 1 us
  std::array<std::uint8_t, kTrafficRoles> dscp{46, 4, 0, 8, 12, 16};  ///< by TrafficRole (EMU's own numbers)

  std::uint32_t ev_count = 256;     ///< EVs a profile, active and backup, 1 … 4,096 (paper: 128 … 256)
  std::uint32_t ev_active = 128;    ///< of them in use, a multiple of the planes (assumption)
  std::uint32_t ev_min_active = 0;  ///< floor on active EVs counted per plane; 0 = ev_active / 4 (api example)
  /// Rotations until the scan order is drawn anew; 0 = never (assumption: each, as UEC's reference simulator does; an
  /// order that stays lets NICs of one rate collide on the same links rotation after rotation).
  std::uint32_t reshuffle_rotations = 1;
  SkipDuration skip_duration = SkipDuration::rest_of_rotation;
  TimePs skip_time_ps = 10 * kPsPerUs;   ///< with fixed_time
  std::uint32_t assumed_bad_losses = 1;  ///< untrimmed losses that make an EV ASSUMED_BAD (paper: first), 1 … 8
  ProbeSkipState probe_skip_state = ProbeSkipState::skip;
  TimePs probe_interval_ps = 100 * kPsPerUs;  ///< between probes of one ASSUMED_BAD EV (assumption)
  TimePs probe_timeout_ps = 50 * kPsPerUs;    ///< unanswered by then: lost (assumption; the API's example has 2 ms)
  std::uint32_t probe_successes = 3;          ///< good replies in a row that revive it (assumption)
  std::uint32_t always_skip_threshold =
      0;  ///< responder marks ALWAYS_SKIP after so many CE marks in a row on an EV; 0 = off
  PathFeedback path_feedback = PathFeedback::adaptive;
  PathTableScope path_table_scope = PathTableScope::qp;
  CongestionScope congestion_scope = CongestionScope::destination;

  double gap_cwnd_factor = 1.5;  ///< reorder threshold = clamp(factor * cwnd in packets, min, MPR/2) (assumption)
  std::uint32_t gap_min_packets = 5;
  std::uint32_t sack_threshold_bytes = 16384;  ///< sack_gen_threshold, strictly greater triggers (V: UET)
  std::uint32_t sack_min_add_bytes = 1024;     ///< counter += max(payload, this) (spec)
  OutOfWindow out_of_window = OutOfWindow::nack;
  double penalty_start_share = 0;  ///< rcv_cwnd_pen begins above this share of rx_staging (assumption)
  double penalty_full_share = 0;   ///< and is 127 from this share on; 0 = never a penalty (assumption)
  RttSource rtt_source = RttSource::send_time_table;  ///< or the reflected TSETH (spec: either)
};

/// `uet-1.0-nscc`, the fields of the API's configuration struct plus min and initial window (OCP MRC 1.0).
/// A value of 0 in a field marked (derived) is computed from base_rtt, line rate and MTU by the UEC formulae.
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
  std::uint64_t max_cwnd_bytes = 0;          ///< (derived: 1.5 * BDP)
  std::uint64_t min_cwnd_bytes = 0;          ///< (derived: 1 MTU)
  std::uint64_t initial_cwnd_bytes = 0;      ///< (derived: max_cwnd)
  std::uint32_t qa_gate = 3;                 ///< achieved < max_wnd >> gate
  TimePs qa_threshold_ps = 0;                ///< (derived: 4 * target)
  TimePs target_delay_ps = 0;                ///< (derived: 0.75 * base_rtt with trimming, else 1.0)
  double delay_ewma_weight = 0.0125;         ///< (V: htsim)
  bool last_hop_trim_cuts = true;            ///< so does one for the last hop (UEC 1.0: not with receiver credits only)
  bool refusal_triggers_quick_adapt = true;  ///< a NACK for want of a resource of the responder does (assumption)
  bool loss_triggers_quick_adapt = false;    ///< so does a packet that is taken for lost (assumption: it does not)
  bool max_cwnd_follows_rtt = false;  ///< max_cwnd shrinks with the smallest RTT seen, as in UEC 1.0 (assumption: it
                                      ///< stays, since MRC's API has it in bytes)
  bool trim_cuts_cwnd = true;         ///< a TRIMMED NACK subtracts the packet (V: UET; P1/P2 silent)
};

}  // namespace mrc
