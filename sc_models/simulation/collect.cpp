#include "simulation/collect.h"

#include <algorithm>
#include <map>
#include <systemc>

#include <fmt/format.h>

#include "host/job_result.h"
#include "latency/latency_terms.h"
#include "parameters/transport.h"
#include "simulation/ranks.h"
#include "simulation/reductions.h"

namespace mrc {
namespace {

void close_recordings(const Model& model) {
  if (model.capture) model.capture->close();
  if (!model.recording) return;
  model.recording->close();
  if (model.recording->late() == 0) return;
  SC_REPORT_WARNING("waves", fmt::format("{} changes are shown later than they were", model.recording->late()).c_str());
}

void collect_nodes(RunResult& result, const Model& model, TimePs end) {
  for (NodeId id = 0; id < model.node_at.size(); ++id) {
    const SimulationNode* node = model.node_at[id];
    if (node == nullptr) {
      result.nodes.push_back({fmt::format("nic{}", id), 0, 0});
      continue;
    }
    collect_node(result, model, *node, end);
    if (!model.is_under_test(*node)) continue;
    const TimePs last = node->player().statistics().last_completion;
    const bool is_done = result.status == RunStatus::complete || node->player().nodes_left() == 0;
    const TimePs active_end = is_done ? last : end;
    if (node->nic) node->nic->close_account(active_end);
    if (node->endpoint) node->endpoint->finish(active_end);
    collect_under_test(result, model, *node, active_end);
    if (!node->nic) continue;
    result.sram = node->nic->memory_table({.qps = static_cast<std::uint32_t>(node->context.qps.size()),
                                           .destinations = static_cast<std::uint32_t>(node->qps_of_peer.size())},
                                          end);
  }
}

void collect_one_way(RunResult& result, const Model& model) {
  std::vector<TimePs> times;
  for (std::uint32_t i = 0; i < model.workload.nodes.size(); ++i) {
    const WorkNode& send = model.workload.nodes[i];
    if (send.kind != WorkKind::send || send.match == kNoWork) continue;
    const NodeId from = model.placement.node_of(send);
    const NodeId to = model.placement.peer_node_of(send);
    if (from == to) continue;
    const TimePs known = model.at(to).player().known_at(send.match);
    if (known != kNever) times.push_back(known - model.at(from).player().posted_at(i));
  }
  std::sort(times.begin(), times.end());
  result.one_way_us = spread_of(times);
}

void collect_transport(RunResult& result, const Model& model) {
  TransportCounts counts = transport_counts(model);
  add(counts, model.counts_elsewhere);
  result.rocev2.cnps += counts.rocev2.cnps_sent;
  result.rocev2.naks += counts.rocev2.naks_sent;
  result.rocev2.out_of_sequence += counts.rocev2.out_of_sequence;
  result.rocev2.timeouts += counts.rocev2.timeouts;
  const auto used = transports_in(model.scenario);
  result.uet = {.on = std::any_of(used.begin(), used.end(), [](const Transport* t) { return t->name == "uet"; }),
                .timeouts = counts.uet.timeouts,
                .grants = counts.uet.grants,
                .credit_requests = counts.uet.credit_requests};
}

/// Of more than `kMostPorts` those that dropped, trimmed and marked most, then those with the longest queues.
void keep_eventful(std::vector<std::uint32_t>& links, const Network& network) {
  constexpr std::size_t kMostPorts = 256;
  if (links.size() <= kMostPorts) return;
  const auto rank = [&](std::uint32_t link) {
    const PortCounters port = network.counters(link);
    return std::pair(port.dropped + port.trimmed + port.ce_marked, port.most_queued_bytes);
  };
  std::stable_sort(links.begin(), links.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); });
  links.resize(kMostPorts);
}

void collect_switch_ports(RunResult& result, const Model& model) {
  const Network& network = model.fabric->network();
  std::vector<std::uint32_t> links;
  for (const std::uint32_t link : network.visited_links()) {
    const PortCounters port = network.counters(link);
    result.rocev2.pauses += port.pauses;
    result.rocev2.paused_us += us_from_ps(port.paused_ps);
    if (network.topology().links()[link].first_hop()) continue;
    result.packets.dropped += port.dropped;
    result.packets.trimmed += port.trimmed;
    result.packets.ce_marked += port.ce_marked;
    if (port.packets > 0 || port.dropped > 0) links.push_back(link);
  }
  keep_eventful(links, network);
  for (const std::uint32_t link : links) {
    const PortCounters port = network.counters(link);
    result.switch_ports.push_back({network.topology().port_name(link), port.packets, port.bytes, port.dropped,
                                   port.trimmed, port.ce_marked, port.most_queued_bytes});
  }
}

void collect_fabric(RunResult& result, const Model& model) {
  const Network& network = model.fabric->network();
  const ImpairmentCounts impairments = network.impairments();
  result.packets.dropped += impairments.dropped + network.without_route() + network.lost_on_down_links();
  result.packets.trimmed = impairments.trimmed;
  result.packets.corrupted = impairments.corrupted;
  result.packets.ce_marked = impairments.ce_marked;
  collect_switch_ports(result, model);
  result.cost.box_steps += network.events();
}

/// Those of detailed NICs come with collect_node().
void collect_fabric_account(RunResult& result, const Model& model) {
  const ImpairmentCounts impairments = model.fabric->network().impairments();
  AccountResult fabric{"fabric", "fabric", "packets", impairments.duplicated, 0, 0, model.fabric->packets_held()};
  for (const auto& node : model.nodes) {
    fabric.in += node->context.counters.data_packets + node->context.counters.control_packets;
    fabric.out += node->context.counters.received.packets;
  }
  fabric.lost = model.fabric->packets_lost();
  result.accounts.push_back(std::move(fabric));
}

void collect_job(RunResult& result, const Model& model) {
  std::vector<WorkTimes> times;
  times.reserve(model.workload.nodes.size());
  for (std::uint32_t i = 0; i < model.workload.nodes.size(); ++i)
    times.push_back(model.at(model.placement.node_of(model.workload.nodes[i])).player().times(i));
  result.job =
      make_job_result(model.workload, times, model.scenario.traffic.collective, model.scenario.traffic.late_ranks);
}

void collect_messages(RunResult& result, const Model& model) {
  std::map<NodeId, std::uint64_t> bytes_to;  // from the node under test
  for (std::uint32_t i = 0; i < model.workload.nodes.size(); ++i) {
    const WorkNode& work = model.workload.nodes[i];
    if (!model.placement.leaves_node(work)) continue;
    const NodeId from = model.placement.node_of(work);
    // What switches reduce comes back.
    const NodeId to = work.kind == WorkKind::reduction ? from : model.placement.peer_node_of(work);
    const WorkPlayer& player = model.at(from).player();
    const TimePs done = player.times(i).done;
    if (done == kNever) continue;
    result.all_messages.push_back({from, to, work.tag, work.bytes, player.posted_at(i), done});
    if (to != from && model.is_under_test(model.at(from))) bytes_to[to] += work.bytes;
  }
  const auto most = std::max_element(bytes_to.begin(), bytes_to.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != bytes_to.end()) result.peer = model.at(most->first).name;
  result.all_message_time_us = spread_of(result.all_messages);
}

/// One message of a node that another gets, or its part of a reduction.
void add_message(ShareResult& share, std::vector<TimePs>& times, const WorkPlayer& player, std::uint32_t index,
                 std::uint64_t bytes) {
  ++share.messages;
  const TimePs done = player.times(index).done;
  if (done == kNever) return;
  const double posted_us = us_from_ps(player.posted_at(index));
  share.first_posted_us = times.empty() && share.failed == 0 ? posted_us : std::min(share.first_posted_us, posted_us);
  share.last_done_us = std::max(share.last_done_us, us_from_ps(done));
  if (player.failed(index)) {
    ++share.failed;
    return;
  }
  ++share.completed;
  share.completed_bytes += bytes;
  times.push_back(done - player.posted_at(index));
}

/// A row for each tenant, or for each class, by what `number_of` says of a message.
template <typename NumberOf>
std::vector<ShareResult> shares_of(const Model& model, const NumberOf& number_of) {
  std::map<std::uint32_t, std::pair<ShareResult, std::vector<TimePs>>> shares;
  for (std::uint32_t i = 0; i < model.workload.nodes.size(); ++i) {
    const WorkNode& work = model.workload.nodes[i];
    if (!model.placement.leaves_node(work)) continue;
    auto& [share, times] = shares[number_of(work)];
    add_message(share, times, model.at(model.placement.node_of(work)).player(), i, work.bytes);
  }
  std::vector<ShareResult> rows;
  for (auto& [number, row] : shares) {
    auto& [share, times] = row;
    std::sort(times.begin(), times.end());
    share.number = number;
    share.message_time_us = spread_of(times);
    rows.push_back(share);
  }
  return rows;
}

void collect_shares(RunResult& result, const Model& model) {
  const TrafficConfig& traffic = model.scenario.traffic;
  if (traffic.tenants.separate)
    result.tenants = shares_of(model, [](const WorkNode& work) -> std::uint32_t { return work.job; });
  if (traffic.classes.on())
    result.classes = shares_of(model, [](const WorkNode& work) -> std::uint32_t { return work.traffic_class; });
}

/// The log's events take the place of those of the NICs.
void collect_events(RunResult& result, const Model& model) {
  if (!model.fault_log->empty()) result.events = model.fault_log->rows(sc_core::sc_time_stamp().value());
  if (model.skipped.total() > 0) {
    for (EventResult& event : result.events)
      event.time_us = us_from_ps(model.skipped.run_time(ps_from_us(event.time_us)));
  }
  std::stable_sort(result.events.begin(), result.events.end(),
                   [](const EventResult& a, const EventResult& b) { return a.time_us < b.time_us; });
}

}  // namespace

TimePs end_of(const Model& model, RunStatus status) {
  TimePs end = 0;
  for (const auto& node : model.nodes) end = std::max(end, node->player().statistics().last_completion);
  return status != RunStatus::complete || end == 0 ? sc_core::sc_time_stamp().value() : end;
}

TransportCounts transport_counts(const Model& model) {
  TransportCounts sum;
  for (const auto& node : model.nodes) {
    if (node->here && node->endpoint) node->endpoint->add_counts(sum);
  }
  return sum;
}

RunResult collect(Model& model, RunStatus status, std::vector<std::string> details) {
  close_recordings(model);
  RunResult result;
  result.scenario = model.scenario.name;
  result.seed = model.scenario.seed;
  result.status = status;
  result.details = std::move(details);
  const TimePs end = end_of(model, status);
  result.simulated_time_us = us_from_ps(model.skipped.run_time(end));
  result.encryption.on = encrypts(model.scenario) && model.scenario.protocol.encryption.on();
  result.messages.count = model.workload.sends();
  result.bytes.offered = model.workload.bytes();
  result.node_under_test = model.scenario.run.node_under_test;
  collect_nodes(result, model, end);
  collect_one_way(result, model);
  collect_events(result, model);
  collect_fabric_account(result, model);
  collect_reductions(result, model, end);
  collect_job(result, model);
  collect_messages(result, model);
  collect_shares(result, model);
  result.latency_terms = latency_terms(model.scenario, kSmallWriteBytes);
  collect_fabric(result, model);
  collect_transport(result, model);
  return result;
}

}  // namespace mrc
