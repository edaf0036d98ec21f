#include <array>

#include <fmt/format.h>

#include "parameters/ring1_parameters.h"

#include "mrc/control/path_policy_registry.h"
#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<Encapsulation>() {
  return {"none", "srv6", "srv6_srh"};
}
template <>
std::vector<std::string> words_of<CryptoFraming>() {
  return {"none", "psp", "psp_cookie", "esp"};
}
template <>
std::vector<std::string> words_of<AssociationScope>() {
  return {"qp", "peer"};
}
template <>
std::vector<std::string> words_of<TrimmedAction>() {
  return {"nack", "drop"};
}
template <>
std::vector<std::string> words_of<EvHalfOrder>() {
  return {"low_to_source_port", "high_to_source_port"};
}
template <>
std::vector<std::string> words_of<EvLayoutKind>() {
  return {"modulo", "fields"};
}
template <>
std::vector<std::string> words_of<OutOfWindow>() {
  return {"drop", "nack"};
}
template <>
std::vector<std::string> words_of<SkipDuration>() {
  return {"rest_of_rotation", "one_rotation", "fixed_time"};
}
template <>
std::vector<std::string> words_of<ProbeSkipState>() {
  return {"skip", "good"};
}
template <>
std::vector<std::string> words_of<PathFeedback>() {
  return {"adaptive", "oblivious"};
}
template <>
std::vector<std::string> words_of<TimeoutBackoff>() {
  return {"qp", "packet"};
}
template <>
std::vector<std::string> words_of<RttSource>() {
  return {"send_time_table", "timestamp"};
}
template <>
std::vector<std::string> words_of<PathTableScope>() {
  return {"qp", "destination", "profile"};
}
template <>
std::vector<std::string> words_of<CongestionScope>() {
  return {"destination", "qp"};
}

void add_protocol_parameters(ParameterTable& table) {
  MRC_SCENARIO(protocol.mtu_bytes, "bytes", 256, 16'384,
               "largest payload of a packet; the API allows 256 to 4,096, larger values are for what-if studies", api);
  MRC_SCENARIO(protocol.mpr_units, "128 PSNs", 1, 255, "receive window of a QP", api);
  MRC_SCENARIO(protocol.dynamic_mpr, "", 0, 0, "SACK.mpr resizes the window", spec);
  MRC_SCENARIO(protocol.max_write_imm, "messages", 1, 65'535, "WRITE_IMM messages in flight on a QP", api);
  MRC_SCENARIO(protocol.receive_queue_depth, "receives", 1, 65'536,
               "receives that software keeps posted on a QP; a WRITE_IMM that finds none ends the QP", assumption);
  MRC_SCENARIO(protocol.timeout_exponent, "", 0, 24, "t: local ACK timeout is 1.024 us * 2^t", assumption);
  MRC_SCENARIO(protocol.timeout_backoff, "", 0, 0,
               "timeouts that double the next one: those of the QP since its last progress, or those of the packet",
               assumption);
  MRC_SCENARIO(protocol.linear_retries, "retries", 0, 7, "timeouts at the base value before it doubles", api);
  MRC_SCENARIO(protocol.exponential_retries, "retries", 0, 25, "doublings before the QP fails; 25: never", api);
  MRC_SCENARIO(protocol.trim_nack, "", 0, 0, "capability TRIM_NACK: the receiver answers trimmed packets by a NACK",
               spec);
  MRC_SCENARIO(protocol.encapsulation, "", 0, 0, "outer headers of every packet", spec);
  MRC_SCENARIO(
      protocol.srh_share, "", 0, 1,
      "with encapsulation = \"srv6_srh\": share of the QPs whose packets have an SRH; probes of ports always do",
      assumption);
  MRC_SCENARIO(protocol.first_psn, "", -1, kPsnMask, "PSN of the first packet of each QP; -1: drawn for each",
               assumption);
  MRC_SCENARIO(protocol.udp_port, "", 1, 65'535, "UDP destination port", spec);
  MRC_SCENARIO(protocol.ev_half_order, "", 0, 0,
               "half of the EV in the UDP source port; the other half is in the flow label (sources disagree)",
               assumption);
  MRC_SCENARIO(
      protocol.ev_layout.kind, "", 0, 0,
      "how an EV selects a path; modulo: the uplink is the EV modulo the uplinks of a T0, the plane is that of the "
      "EV's port; fields: port, uplink and the plane of each tier are bit fields (docs/fabric.md); the positions "
      "are unpublished",
      assumption);
  MRC_SCENARIO(protocol.ev_layout.port_bit, "", 0, 31,
               "with fields: lowest bit of the port; all defaults as in one vendor's lab sample", assumption);
  MRC_SCENARIO(protocol.ev_layout.port_bits, "bits", 0, 3, "with fields: width of the port", assumption);
  MRC_SCENARIO(protocol.ev_layout.destination_plane_bit, "", 0, 31,
               "with fields: lowest bit of the plane for the T0 of the destination and its downlink", assumption);
  MRC_SCENARIO(protocol.ev_layout.uplink_bit, "", 0, 31, "with fields: lowest bit of the uplink of the source's T0",
               assumption);
  MRC_SCENARIO(protocol.ev_layout.uplink_bits, "bits", 0, 11, "with fields: width of the uplink", assumption);
  MRC_SCENARIO(protocol.ev_layout.t1_plane_bit, "", 0, 31, "with fields: lowest bit of the plane for the T1",
               assumption);
  MRC_SCENARIO(protocol.ev_layout.source_plane_bit, "", 0, 31,
               "with fields: lowest bit of the plane for the T0 of the source", assumption);
  MRC_SCENARIO(protocol.ev_layout.plane_bits, "bits", 0, 3, "with fields: width of each of the three planes",
               assumption);
  MRC_SCENARIO(protocol.timestamp_in_us, "", 0, 0, "unit of the TSETH time stamp: 1 us instead of 128 ns", spec);
  static constexpr std::array<std::string_view, kTrafficRoles> roles{"control",        "trimmable", "no_trim",
                                                                     "trimmable_retx", "trimmed",   "trimmed_lasthop"};
  for (std::size_t i = 0; i < roles.size(); ++i) {
    table.scenario(
        fmt::format("protocol.dscp_{}", roles[i]), [i](ScenarioConfig & c) -> auto& { return c.protocol.dscp[i]; }, "",
        {0, 63}, "DSCP of the packets in this role", assumption);
  }
  MRC_SCENARIO(
      protocol.dscp_class_step, "", 1, 63,
      "added to the DSCP of data (trimmable, no_trim, trimmable_retx) for each traffic class above the lowest, "
      "modulo 64",
      assumption);
  MRC_SCENARIO(protocol.ev_count, "EVs", 1, 4'096, "EVs of a profile, active and backup; a multiple of the ports",
               paper);
  MRC_SCENARIO(protocol.ev_active, "EVs", 1, 4'096, "EVs in use at a time; a multiple of the ports", paper);
  MRC_SCENARIO(protocol.ev_min_active, "EVs", 0, 4'096,
               "minimum EVs in use, counted per plane; 0: a quarter of ev_active", api);
  MRC_SCENARIO(protocol.reshuffle_rotations, "rotations", 0, k1M - 1,
               "rotations after which the scan order of the EVs is drawn again; 0: never", assumption);
  MRC_SCENARIO(protocol.skip_duration, "", 0, 0, "duration for which a SKIP EV is skipped", assumption);
  table.scenario_ns(
      "protocol.skip_time_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.skip_time_ps; }, {1, 1e9},
      "time in SKIP with skip_duration = fixed_time", assumption);
  MRC_SCENARIO(protocol.assumed_bad_losses, "losses", 1, 8, "losses other than trims that make an EV ASSUMED_BAD",
               paper);
  MRC_SCENARIO(
      protocol.backups_return, "", 0, 0,
      "an EV that was active at first, went out of use by losses and is GOOD again takes its place back from a "
      "backup, so that paths are used evenly again; not in RTL",
      assumption);
  MRC_SCENARIO(protocol.probe_skip_state, "", 0, 0, "state of an EV whose probe returns CE-marked (sources disagree)",
               assumption);
  table.scenario_ns(
      "protocol.probe_interval_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.probe_interval_ps; },
      {100, 1e12}, "time between two probes of an ASSUMED_BAD EV", assumption);
  table.scenario_ns(
      "protocol.probe_timeout_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.probe_timeout_ps; }, {100, 1e12},
      "time without an answer after which a probe is lost", assumption);
  MRC_SCENARIO(protocol.probe_successes, "probes", 1, 255, "consecutive successful probes that make an EV GOOD again",
               assumption);
  MRC_SCENARIO(
      protocol.probe_backoff, "doublings", 0, 10,
      "each probe of a path table that is lost doubles the time between its probes, at most so often; an answer "
      "ends it",
      assumption);
  MRC_SCENARIO(protocol.unanswered_probes, "probes", 1, 4'096,
               "reliability probes of a path table that have no answer yet, at most", assumption);
  MRC_SCENARIO(protocol.ev_probe_repeats, "probes", 0, 255,
               "further EV probes of a QP that has received a duplicate, while they are not answered: the path of its "
               "SACKs may be dead",
               assumption);
  MRC_SCENARIO(protocol.ev_probe_bytes, "bytes", 0, 1 << 30,
               "bytes that a QP receives at least between two EV probes for its control packets", assumption);
  MRC_SCENARIO(protocol.always_skip_threshold, "marks", 0, 65'535,
               "consecutive CE marks on an EV that cause ALWAYS_SKIP; 0: never", assumption);
  MRC_SCENARIO(protocol.path_feedback, "", 0, 0,
               "adaptive: SACKs, NACKs and losses change EV states; oblivious: all EVs stay GOOD, for comparison",
               assumption);
  MRC_SCENARIO(
      protocol.path_policy, "", 0, 0,
      "policy that chooses the next EV among those that may be used; rotation is MRC's (docs/path_policies.md)", spec);
  table.only(path_policy_names());
  MRC_SCENARIO(protocol.path_table_scope, "", 0, 0, "scope of a path table: QPs that share EV states", assumption);
  MRC_SCENARIO(protocol.congestion_scope, "", 0, 0, "scope of a congestion window: QPs that share it", spec);
  MRC_SCENARIO(protocol.gap_cwnd_factor, "", 0.01, 100,
               "loss inference: number of overtaking packets as a multiple of the window, at most MPR / 2", assumption);
  MRC_SCENARIO(protocol.gap_min_packets, "packets", 1, 32'640, "loss inference: minimum number of overtaking packets",
               assumption);
  MRC_SCENARIO(protocol.sack_threshold_bytes, "bytes", 0, 1 << 24, "bytes received after which a SACK is due",
               assumption);
  MRC_SCENARIO(protocol.sack_min_add_bytes, "bytes", 1, 65'536,
               "minimum that a small packet adds to the count for sack_threshold_bytes", spec);
  MRC_SCENARIO(protocol.out_of_window, "", 0, 0, "response to a PSN outside the window (the specification has both)",
               assumption);
  MRC_SCENARIO(protocol.penalty_start_share, "", 0, 1,
               "fill share of rx_staging above which SACKs request a smaller window", assumption);
  MRC_SCENARIO(protocol.penalty_full_share, "", 0, 1,
               "fill share of rx_staging from which SACKs request the smallest window; 0: never", assumption);
  MRC_SCENARIO(protocol.rtt_source, "", 0, 0, "source of RTT samples", spec);
  MRC_SCENARIO(
      protocol.rtt_of_retransmissions, "", 0, 0,
      "SACKs of retransmitted packets give RTT samples too, although these pass the queue of data and a SACK does "
      "not tell copies apart",
      assumption);
  MRC_SCENARIO(
      protocol.encryption.framing, "", 0, 0,
      "encryption of packets from NIC to NIC: none, or what surrounds them: psp 40 bytes, psp_cookie 48, esp 36 "
      "(docs/encryption.md); MRC 1.0 has none",
      assumption);
  MRC_SCENARIO(protocol.encryption.control, "", 0, 0,
               "with encryption: SACKs, NACKs, ACKs, probes and endpoint operations are encrypted too", assumption);
  MRC_SCENARIO(protocol.encryption.association, "", 0, 0,
               "with encryption: packets that share a key, packet numbers and a replay window", assumption);
  MRC_SCENARIO(
      protocol.encryption.replay_window, "packets", 0, 65'536,
      "with encryption: packet numbers below the highest that are still accepted, a multiple of 64; 0: replays "
      "are not looked for",
      assumption);
  MRC_SCENARIO(protocol.encryption.trimmed, "", 0, 0,
               "with encryption: a trimmed packet has lost its tag; nack: its headers are believed, drop: it is lost",
               assumption);
}

}  // namespace mrc
