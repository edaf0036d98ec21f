#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "nic/limits.h"
#include "parameters/transport.h"
#include "simulation/collect.h"
#include "simulation/critical_paths.h"

namespace mrc {
namespace {

void collect_encryption(RunResult::Encryption& sum, const SimulationNode& node) {
  const EncryptionCounters& counted = node.context.counters.encryption;
  sum.encrypted += counted.encrypted;
  sum.decrypted += counted.decrypted;
  sum.tag_failures += counted.tag_failures;
  sum.replayed += counted.replayed;
  sum.too_old += counted.too_old;
  sum.unverified += counted.unverified;
  sum.unknown += counted.unknown;
  if (const BoxCounters* of_boxes = node.box_counters()) {
    sum.encrypt_key_misses += of_boxes->encrypt_key_misses;
    sum.decrypt_key_misses += of_boxes->decrypt_key_misses;
  }
}

void collect_contexts(RunResult::Contexts& sum, const SimulationNode& node) {
  const BoxCounters* of_boxes = node.box_counters();
  if (of_boxes == nullptr) return;
  sum.read += of_boxes->contexts_read;
  sum.evicted += of_boxes->contexts_evicted;
  sum.written += of_boxes->contexts_written;
}

void collect_traffic(RunResult& result, const SimulationNode& node, TimePs run_time) {
  const HostStatistics& host = node.player().statistics();
  const NodeCounters counters = node.all_counters();
  result.messages.completed += host.messages_completed;
  result.messages.failed += host.messages_failed;
  result.bytes.delivered += host.acknowledged_bytes + host.local_bytes;
  result.bytes.corrupted += host.corrupted_bytes;
  result.packets.sent += counters.data_packets;
  result.packets.control += counters.control_packets;
  result.packets.delivered += counters.delivered;
  result.packets.retransmitted += counters.retransmitted;
  result.packets.duplicate += counters.duplicates;
  result.packets.nacks += counters.nacks_sent;
  if (const BoxCounters* of_boxes = node.box_counters()) result.packets.dropped += of_boxes->rx_overrun;
  collect_encryption(result.encryption, node);
  collect_contexts(result.contexts, node);
  const double active_ns = static_cast<double>(run_time) / 1000.0;
  result.nodes.push_back({node.name,
                          active_ns > 0 ? 8.0 * static_cast<double>(counters.first_payload_bytes) / active_ns : 0,
                          active_ns > 0 ? 8.0 * static_cast<double>(counters.delivered_bytes) / active_ns : 0});
}

void append(auto& to, auto from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void add_nic(RunResult& result, const SimulationNode& node, NicResult nic) {
  append(result.buffers, std::move(nic.buffers));
  append(result.ledger, std::move(nic.ledger));
  append(result.events, std::move(nic.events));
  append(result.accounts, std::move(nic.accounts));
  result.pcie.push_back({node.name, nic.pcie});
  const BoxCounters& counters = *node.box_counters();
  result.packets.dropped += counters.memory_dropped;
  result.completions.cqes += counters.cqes;
  result.completions.writes += counters.cqe_writes;
  result.cost.box_steps += nic.box_steps;
  result.cost.kernel_activations += nic.kernel_activations;
}

void collect_rtl(RunResult& result, const SimulationNode& node) {
  for (const RtlPath* rtl : node.nic->rtl().paths()) {
    result.rtl.push_back({node.name, std::string(rtl->block()), std::string(to_string(rtl->mode())),
                          std::string(to_string(rtl->timing())), rtl->transactions(), rtl->mismatches(), rtl->cycles(),
                          rtl->rtl_cycles().occupied, rtl->systemc_cycles().occupied, rtl->rtl_cycles().latency,
                          rtl->systemc_cycles().latency});
  }
}

/// Of a full packet, all that is not payload.
double header_bytes(const Model& model, const SimulationNode& node) {
  Packet full;
  full.payload_bytes = model.scenario.protocol.mtu_bytes;
  full.opcode = Opcode::write_middle;
  return transport_of(model.scenario, node.id).link_bytes(full, model.scenario) -
         static_cast<double>(full.payload_bytes);
}

/// Of the write slots of all nodes that `sender` sends to: share of the time by what kept them busy or held them up.
std::map<std::string, double> receiver_write_blocked(const Model& model, const SimulationNode& sender) {
  std::map<std::string, double> shares;
  TimePs total = 0;
  for (const auto& [id, qps] : sender.qps_of_peer) {
    const SimulationNode& peer = model.at(id);
    if (!peer.nic && !peer.nic_elsewhere) continue;
    const WriteSlotTime time = peer.nic ? write_slot_time_of(*peer.nic) : peer.nic_elsewhere->writes;
    total += time.all_ps;
    shares["pcie.line"] += static_cast<double>(time.busy_ps);
    for (const auto& [cause, ps] : time.blocked_ps) shares[cause] += static_cast<double>(ps);
  }
  for (auto& [cause, share] : shares) share /= static_cast<double>(std::max<TimePs>(total, 1));
  // Where writes wait for credits, the time in which they leave is a part of the credits' way round.
  constexpr double credits_limit = 0.1;
  if (shares["pcie.posted_credits"] >= credits_limit) {
    shares["pcie.posted_credits"] += std::exchange(shares["pcie.line"], 0.0);
  }
  return shares;
}

constexpr double kQuarter = 0.25;
constexpr double kHalf = 0.5;

/// Links where something happened, in the order of links.
struct AtLink {
  std::uint32_t link;
  double packets;
};

/// `links`: all where something may have happened.
template <typename Count>
std::vector<AtLink> count_at_links(const std::vector<std::uint32_t>& links, const Count& count) {
  std::vector<AtLink> at_links;
  for (const std::uint32_t link : links) {
    if (const std::uint64_t packets = count(link)) at_links.push_back({link, static_cast<double>(packets)});
  }
  return at_links;
}

/// A packet of a detailed NIC can be lost on a link whose port none has visited.
std::vector<std::uint32_t> links_with_losses(const Network& network) {
  std::vector<std::uint32_t> lost;
  for (std::uint32_t link = 0; link < network.lost_on_links().size(); ++link) {
    if (network.lost_on_links()[link] > 0) lost.push_back(link);
  }
  const std::vector<std::uint32_t> visited = network.visited_links();
  std::vector<std::uint32_t> links;
  std::set_union(lost.begin(), lost.end(), visited.begin(), visited.end(), std::back_inserter(links));
  return links;
}

double sum_of(const std::vector<AtLink>& at_links) {
  double sum = 0;
  for (const AtLink& at : at_links) sum += at.packets;
  return sum;
}

/// Shares of all, of the links that have at least `least`: what happens everywhere keeps its own name.
void add_links(std::map<std::string, double>& shares, const Model& model, const std::vector<AtLink>& at_links,
               double all, double least) {
  for (const auto& [link, packets] : at_links) {
    if (packets < least * all) continue;
    shares["fabric." + model.fabric->topology().port_name(link)] += packets / all;
  }
}

/// Of all trimmed or marked packets, by link.
std::map<std::string, double> happened_at(const Model& model, std::uint64_t PortCounters::*what, std::uint64_t all) {
  const Network& network = model.fabric->network();
  const std::vector<AtLink> at_links =
      count_at_links(network.visited_links(), [&](std::uint32_t link) { return network.counters(link).*what; });
  std::map<std::string, double> shares;
  add_links(shares, model, at_links, static_cast<double>(all) + sum_of(at_links), kQuarter);
  return shares;
}

/// The link that has most of the fabric's congestion, by trims and marks.
std::map<std::string, double> late_at(const Model& model) {
  const Network& network = model.fabric->network();
  const std::vector<AtLink> at_links = count_at_links(network.visited_links(), [&](std::uint32_t link) {
    const PortCounters port = network.counters(link);
    return port.trimmed + port.ce_marked;
  });
  std::map<std::string, double> shares;
  add_links(shares, model, at_links, sum_of(at_links), kHalf);
  return shares;
}

/// Of the packets that `node` declared lost, the share that came after all: its peers had them twice.
double late_share(const Model& model, const SimulationNode& node) {
  const BoxCounters& counters = node.boxes->box_counters;
  const std::uint64_t retransmitted = node.context.counters.retransmitted;
  const std::uint64_t bytes = counters.retransmitted_wire_bytes_by_cause[static_cast<std::size_t>(CutCause::loss)];
  if (retransmitted == 0 || bytes == 0) return 0;
  std::uint64_t twice = 0;
  for (const auto& [peer, qps] : node.qps_of_peer) twice += model.at(peer).context.counters.duplicates;
  const double each = static_cast<double>(counters.retransmitted_wire_bytes) / static_cast<double>(retransmitted);
  return std::min(1.0, static_cast<double>(twice) * each / static_cast<double>(bytes));
}

const std::string kReplayWindow = "decrypt.replay_window";

/// Of all lost packets: those that found no room behind a port of a NIC, by the full queue, those that a replay window
/// dropped, and the others by link.
std::map<std::string, double> lost_at(const Model& model, const SimulationNode& under_test) {
  std::map<std::string, double> shares;
  const Network& network = model.fabric->network();
  auto lost = static_cast<double>(model.fabric->packets_lost() + network.impairments().corrupted);
  for (const auto& node : model.nodes) {
    const BoxCounters* counters = node->box_counters();
    if (counters == nullptr) continue;
    lost += static_cast<double>(counters->rx_overrun);
    if (const auto too_old = static_cast<double>(node->context.counters.encryption.too_old); too_old > 0) {
      lost += too_old;
      shares[node.get() == &under_test ? kReplayWindow : "receiver." + kReplayWindow] += too_old;
    }
    if (!node->nic && !node->nic_elsewhere) continue;
    for (const auto& [queue, packets] : node->nic ? overruns_of(*node->nic) : node->nic_elsewhere->overruns) {
      shares[node.get() == &under_test ? queue : "receiver." + queue] += static_cast<double>(packets);
    }
  }
  if (lost == 0) return {};
  const std::vector<AtLink> at_links = count_at_links(links_with_losses(network), [&](std::uint32_t link) {
    return network.counters(link).dropped + network.lost_on_links()[link];
  });
  double counted = sum_of(at_links);
  for (const auto& [queue, packets] : shares) counted += packets;
  lost = std::max(lost, counted);
  for (auto& [queue, share] : shares) share /= lost;
  add_links(shares, model, at_links, lost, kQuarter);
  return shares;
}

#ifdef NDEBUG
constexpr bool kLimitsAreChecked = false;
#else
constexpr bool kLimitsAreChecked = true;
#endif

/// Causes and goodput make up the line rate, to 0.5 %, and no cause gives something back.
void check(const std::vector<LimitResult>& limits, double line_rate_gbps) {
  constexpr double rounding_gbps = 0.01;
  constexpr double most_unattributed = 0.005;
  for (const LimitResult& limit : limits) {
    const bool attributed = limit.cause != "unattributed";
    const double most = most_unattributed * line_rate_gbps + rounding_gbps;
    if (attributed ? limit.gbps >= -rounding_gbps : std::abs(limit.gbps) <= most) continue;
    throw std::logic_error(fmt::format("limits: {} is {} of {} Gb/s", limit.cause, limit.gbps, line_rate_gbps));
  }
}

/// Programs may go on after their last completion: the account of the ports, which is open until they end, does not.
/// `down_ps`: of ports that were down meanwhile; the others had no work.
void leave_out(std::map<std::string, double>& idle_ps, double after_ps, double down_ps) {
  double& no_work = idle_ps["no_work"];
  no_work = std::max(0.0, no_work - (after_ps - down_ps));
  if (down_ps > 0) idle_ps["port.link_down"] -= down_ps;
}

/// Of a light endpoint: what its ports sent, and what it waited for while they were idle. Its data packets have the
/// headers of a full one.
std::vector<LimitResult> light_limits(const RunResult& result, const Model& model, const SimulationNode& node,
                                      TimePs active, double after_ps) {
  const LightIdle* idle = node.endpoint->idle();
  if (idle == nullptr || !node.here) return {};
  const NodeCounters& counters = node.context.counters;
  const auto gbps = [&](double bytes) { return 8000.0 * bytes / static_cast<double>(active); };
  const double header = header_bytes(model, node);
  const auto first_packets = static_cast<double>(counters.data_packets - counters.retransmitted);
  const auto retransmitted = static_cast<double>(counters.data_payload_bytes - counters.first_payload_bytes) +
                             header * static_cast<double>(counters.retransmitted);
  std::map<std::string, double> causes;
  causes["framing"] = gbps(header * first_packets);
  const auto first_payload = static_cast<double>(counters.first_payload_bytes);
  const double port_gbps = result.line_rate_gbps / node.context.config.nic.ports;
  double sent = 0;
  double waiting = 0;
  for (std::size_t port = 0; port < node.endpoint->port_use().size(); ++port) {
    const LinkUse& use = node.endpoint->port_use()[port];
    sent += use.sent_bytes;
    waiting += use.waiting_bytes;
    causes[fmt::format("port{}.slow", port)] = port_gbps * use.slow_ps / static_cast<double>(active);
    causes[fmt::format("port{}.link_retry", port)] = port_gbps * use.retry_ps / static_cast<double>(active);
  }
  // What waits in a port has been sent, for the requestor, and takes nothing of the line.
  const double unacknowledged = first_payload - static_cast<double>(node.player().statistics().acknowledged_bytes);
  const double unacknowledged_waiting = std::min(waiting, unacknowledged);
  // A packet that was acknowledged since its retransmission arrived may still wait itself.
  const double retransmitted_waiting = std::min(waiting - unacknowledged_waiting, retransmitted);
  const double all_waiting = unacknowledged_waiting + retransmitted_waiting;
  causes["unacknowledged"] = gbps(unacknowledged - unacknowledged_waiting);
  causes["retransmission"] = gbps(retransmitted - retransmitted_waiting);
  causes["control"] = gbps(sent + all_waiting - header * first_packets - retransmitted - first_payload);
  std::map<std::string, double> idle_ps = idle->idle_ps();
  if (node.programs != nullptr) leave_out(idle_ps, after_ps, 0);
  for (const auto& [cause, time] : idle_ps) causes[cause] += port_gbps * time / static_cast<double>(active);
  for (std::size_t i = 0; i < kCutCauses; ++i) {
    causes[cause_of_retransmission(static_cast<CutCause>(i))] +=
        port_gbps * static_cast<double>(idle->retransmission_ps()[i]) / static_cast<double>(active);
  }
  std::vector<LimitResult> limits = waterfall(causes, result.line_rate_gbps, result.goodput_gbps);
  for (LimitResult& limit : limits) limit.relieved_by = light_relief(limit.cause);
  return limits;
}

/// A message cannot have waited for the line for longer than the ports sent. Where a receiver refuses packets, the way
/// back leads through ports that are busy in turn: what is too much has the causes for which ports were idle.
std::map<std::string, double> without_idle_line(std::map<std::string, double> causes, const RunResult& result) {
  constexpr std::array<std::string_view, 7> no_waits{
      "framing",      "control",        "acknowledgement",          "no_work",
      "unattributed", "port.link_down", "host.outstanding_messages"};
  std::map<std::string, double> idle;
  double idle_gbps = 0;
  for (const LimitResult& limit : result.limits) {
    if (std::find(no_waits.begin(), no_waits.end(), limit.cause) != no_waits.end() || limit.gbps <= 0) continue;
    idle[limit.cause] = limit.gbps;
    idle_gbps += limit.gbps;
  }
  double all = 0;
  for (const auto& [cause, ps] : causes) all += ps;
  const double most = all * (1 - idle_gbps / result.line_rate_gbps);
  const auto line = causes.find(CriticalPaths::kLine);
  if (line == causes.end() || line->second <= most || idle_gbps <= 0) return causes;
  const double too_much = line->second - most;
  line->second = most;
  for (const auto& [cause, gbps] : idle) causes[cause] += too_much * gbps / idle_gbps;
  return causes;
}

/// With what it would have sent in skipped time.
Nic::Sent sent_of(const SimulationNode& node) {
  Nic::Sent sent = node.nic->sent();
  if (!node.skipped) return sent;
  sent.counters = sum_of(sent.counters, node.skipped->counters);
  sent.of_boxes = sum_of(sent.of_boxes, node.skipped->of_boxes);
  for (std::size_t port = 0; port < sent.slow_ps.size(); ++port) sent.slow_ps[port] += node.skipped->slow_ps[port];
  return sent;
}

std::array<TimePs, kCutCauses> retransmission_ps_of(const SimulationNode& node) {
  std::array<TimePs, kCutCauses> time = node.nic->idle_causes().retransmission_ps();
  for (std::size_t i = 0; node.skipped && i < time.size(); ++i) time[i] += node.skipped->retransmission_ps[i];
  return time;
}

void collect_goodput(RunResult& result, const Model& model, const SimulationNode& node, TimePs end) {
  const HostStatistics& host = node.player().statistics();
  if (host.first_doorbell >= end) return;
  const TimePs active = model.skipped.run_time(end) - model.skipped.run_time(host.first_doorbell);
  result.goodput_gbps = 8000.0 * static_cast<double>(host.acknowledged_bytes) / static_cast<double>(active);
  const double after_ps = static_cast<double>(kernel_now() - end) * node.context.config.nic.ports;
  if (!node.nic) {
    if (node.endpoint && !node.skipped) result.limits = light_limits(result, model, node, active, after_ps);
    return;
  }
  const std::map<std::string, double> of_messages = model.critical_paths->of_slowest_messages();
  const ImpairmentCounts impairments = model.fabric->network().impairments();
  std::map<std::string, double> idle_ps = model.critical_paths->finish();
  const Nic::Sent sent = sent_of(node);
  BoxCounters of_boxes = sent.of_boxes;
  if (node.programs != nullptr) {
    const std::uint64_t control_bytes =
        std::min(node.nic->control_since_completion_bytes(), of_boxes.control_wire_bytes);
    of_boxes.control_wire_bytes -= control_bytes;
    const double control_ps = 8000.0 * static_cast<double>(control_bytes) / node.context.config.nic.port_gbps;
    leave_out(idle_ps, after_ps - control_ps, static_cast<double>(node.nic->idle_causes().down_since_completion_ps()));
  }
  result.limits = goodput_limits(sent.counters, of_boxes,
                                 {.line_rate_gbps = result.line_rate_gbps,
                                  .goodput_gbps = result.goodput_gbps,
                                  .active_ps = active,
                                  .ports = node.context.config.nic.ports,
                                  .slow_ps = sent.slow_ps,
                                  .idle_ps = idle_ps,
                                  .retransmission_ps = retransmission_ps_of(node),
                                  .receiver_write_blocked = receiver_write_blocked(model, node),
                                  .lost_at = lost_at(model, node),
                                  .trimmed_at = happened_at(model, &PortCounters::trimmed, impairments.trimmed),
                                  .marked_at = happened_at(model, &PortCounters::ce_marked, impairments.ce_marked),
                                  .late_at = late_at(model),
                                  .late_share = late_share(model, node)});
  for (LimitResult& limit : result.limits) limit.relieved_by = relief_of(model, node, limit.cause);
  for (const auto& [cause, ps] : without_idle_line(of_messages, result))
    result.message_causes.push_back({cause, ps / static_cast<double>(kPsPerUs), relief_of(model, node, cause)});
  std::stable_sort(result.message_causes.begin(), result.message_causes.end(),
                   [](const MessageCause& a, const MessageCause& b) { return a.us > b.us; });
}

}  // namespace

void collect_node(RunResult& result, const Model& model, const SimulationNode& node, TimePs end) {
  collect_traffic(result, node, model.skipped.run_time(end));
  if (!node.nic && !node.nic_elsewhere) return;
  add_nic(result, node, node.nic ? collect_nic(node, end) : *node.nic_elsewhere);
  if (node.nic) collect_rtl(result, node);
}

void collect_under_test(RunResult& result, const Model& model, const SimulationNode& node, TimePs end) {
  const NicConfig& nic = node.context.config.nic;
  result.line_rate_gbps = nic.port_gbps * nic.ports;
  const double mtu = model.scenario.protocol.mtu_bytes;
  result.framing_limit_gbps = result.line_rate_gbps * mtu / (mtu + header_bytes(model, node));
  collect_goodput(result, model, node, end);
  if (kLimitsAreChecked) check(result.limits, result.line_rate_gbps);
  std::vector<TimePs> times = node.player().statistics().message_times;
  std::sort(times.begin(), times.end());
  result.message_time_us = spread_of(times);
  result.message_time_quantiles = quantiles_of(times);
}

}  // namespace mrc
