#include "simulation/connect.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "parameters/parameter_value.h"
#include "parameters/transport.h"
#include "pcie/host_memory.h"

namespace mrc {
namespace {

constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// One end of a QP, as its node sees it.
struct QpEnd {
  NodeId node;
  bool sends;
  Psn first_psn = 0;  ///< of what it sends
  Qp* qp = nullptr;
};

void add_qp(const Model& model, QpEnd& end, const FlowKey& flow) {
  SimulationNode& node = model.at(end.node);
  Qp& qp = node.transport->add_qp();
  qp.peer = flow.peer;
  qp.tenant = flow.tenant;
  qp.traffic_class = flow.traffic_class;
  qp.route = model.fabric->topology().route(node.id, flow.peer);
  node.qps_of_peer[flow.peer].push_back(node.context.index_of(qp));
  node.qps_of_flow[flow].push_back(node.context.index_of(qp));
  end.qp = &qp;
}

void add_halves(const Model& model, const QpEnd& end, const QpEnd& peer, const KeyedRandom& random) {
  SimulationNode& node = model.at(end.node);
  end.qp->peer_number = peer.qp->number;
  if (!node.here) return;
  end.qp->reverse_paths = std::make_unique<ReversePaths>(node.context.config.nic.ports, random,
                                                         model.scenario.protocol.ev_layout, end.qp->route.uplinks);
  if (end.sends) node.transport->add_requestor(*end.qp, end.first_psn);
  if (!peer.sends) return;
  node.transport->add_responder(*end.qp, peer.first_psn);
  if (end.qp->receiver) end.qp->receiver->post_receive(model.scenario.protocol.receive_queue_depth);
}

/// Of whom `flow` says at one end.
FlowKey towards(NodeId peer, FlowKey flow) {
  flow.peer = peer;
  return flow;
}

Psn first_psn(const ProtocolConfig& protocol, KeyedRandom& random) {
  const auto drawn = static_cast<Psn>(random.next() & kPsnMask);
  return protocol.first_psn < 0 ? drawn : static_cast<Psn>(protocol.first_psn);
}

/// Each end for itself, as its paths are its own.
void choose_srh(const ScenarioConfig& scenario, const QpEnd& a, const QpEnd& b) {
  if (scenario.protocol.srh_share == 1) return;
  for (const QpEnd* end : {&a, &b}) {
    KeyedRandom random(scenario.seed, fmt::format("srh.{}.{}", end->node, end->qp->number));
    end->qp->without_srh = !random.chance(scenario.protocol.srh_share);
  }
}

void connect_pair(const Model& model, QpEnd a, QpEnd b, const FlowKey& flow) {
  const bool first = flow.tenant == 0 && flow.traffic_class == 0;
  const std::string of_flow = first ? "" : fmt::format(".tenant{}.class{}", flow.tenant, flow.traffic_class);
  for (std::uint32_t i = 0; i < model.scenario.traffic.qps_per_peer; ++i) {
    add_qp(model, a, towards(b.node, flow));
    add_qp(model, b, towards(a.node, flow));
    KeyedRandom random(model.scenario.seed, fmt::format("qp.{}.{}.{}{}", a.node, b.node, i, of_flow));
    a.first_psn = first_psn(model.scenario.protocol, random);
    b.first_psn = first_psn(model.scenario.protocol, random);
    choose_srh(model.scenario, a, b);
    add_halves(model, a, b, random);
    add_halves(model, b, a, random);
  }
}

/// No two regions at one node have the same.
std::uint32_t key_of(NodeId from, const FlowKey& flow) {
  constexpr std::uint32_t first = 0x1000;
  constexpr std::uint32_t flow_shift = 20;
  static_assert(first + 131'072 < 1U << flow_shift && (kMostJobs + 1) * kMostTrafficClasses < 1U << (32 - flow_shift));
  return first + from + ((flow.tenant * kMostTrafficClasses + flow.traffic_class) << flow_shift);
}

bool is_of_intruder(const Model& model, const FlowKey& flow) {
  return flow.tenant != 0 && flow.tenant == model.scenario.traffic.tenants.intruder;
}

/// A job that is not what it should be names the first region at the same node that belongs to another tenant.
void intrude(const Model& model, const SimulationNode& to, Channel& channel) {
  for (const auto& node : model.nodes) {
    for (const auto& [flow, region] : node->regions_at_peers) {
      if (flow.peer != to.id || flow.tenant == channel.flow.tenant) continue;
      channel.destination_base = region.va;
      channel.rkey = region.rkey;
      return;
    }
  }
}

void build_channel(const Model& model, SimulationNode& from, const FlowKey& flow, std::uint64_t longest_send) {
  const TrafficConfig& traffic = model.scenario.traffic;
  const std::uint64_t spare = whole_pages(traffic.offset_bytes);
  SimulationNode& to = model.at(flow.peer);
  Channel channel;
  channel.flow = flow;
  channel.qps = from.qps_of_flow[flow];
  // A piece takes at most half a buffer, so that the source has another place for the next one.
  channel.slot_bytes = std::min(whole_pages(longest_send), traffic.buffer_bytes / 2 / kPageBytes * kPageBytes);
  channel.slot_stride = channel.slot_bytes + spare;
  const auto slots = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(traffic.buffer_bytes / channel.slot_stride, 1, traffic.outstanding_messages));
  for (std::uint32_t slot = slots; slot > 0; --slot) channel.free_slots.push_back(slot - 1);
  channel.source_bytes = std::min(traffic.buffer_bytes, std::max(2 * channel.slot_bytes, 64 * kPageBytes));
  if (channel.slot_bytes * slots * 2 > channel.source_bytes) channel.source_bytes = traffic.buffer_bytes;
  channel.source_base = from.memory.add_source_region(channel.source_bytes + spare);
  const std::uint64_t destination_bytes = slots * channel.slot_stride;
  channel.destination_base = to.memory.add_destination_region(destination_bytes, channel.slot_stride);
  channel.rkey = key_of(from.id, flow);
  const MemoryRegion region{.va = channel.destination_base,
                            .bytes = destination_bytes,
                            .rkey = channel.rkey,
                            .domain = NodeTransport::domain_of(flow.tenant)};
  to.context.protection.add(region);
  if (traffic.tenants.intruder != 0) from.regions_at_peers[flow] = region;
  if (!from.here) return;
  if (to.here) channel.peer_memory = &to.memory;
  if (is_of_intruder(model, flow)) intrude(model, to, channel);
  from.player().add_channel(std::move(channel));
}

void require_same_transport(const ScenarioConfig& scenario, NodeId from, NodeId to) {
  const Transport& sends = transport_of(scenario, from);
  const Transport& receives = transport_of(scenario, to);
  if (&sends == &receives) return;
  throw ParameterError(scenario.name,
                       fmt::format("nic{} (transport = \"{}\") has a message for nic{} (\"{}\"): both ends "
                                   "of a QP have the same transport",
                                   from, sends.name, to, receives.name));
}

/// Security associations of all that QPs send, where packets are encrypted.
void associate(const Model& model) {
  const EncryptionConfig& encryption = model.scenario.protocol.encryption;
  if (!encryption.on()) return;
  for (const auto& node : model.nodes) {
    if (node->here && transport_of(model.scenario, node->id).encrypts)
      node->context.associations = std::make_unique<Associations>(encryption, node->context.qps);
  }
}

/// Of ranks whose work comes while the run goes on, each may have messages for each. Longer ones are posted in pieces
/// that leave room for traffic.outstanding_messages of them.
void note_live_sends(const Model& model, LongestSends& longest_sends, std::set<std::pair<NodeId, FlowKey>>& pairs) {
  const TrafficConfig& traffic = model.scenario.traffic;
  const std::uint64_t piece = std::max(traffic.buffer_bytes / traffic.outstanding_messages, kPageBytes);
  for (const NodeId from : model.placement.nics_of_ranks) {
    for (const NodeId to : model.placement.nics_of_ranks) {
      if (from == to) continue;
      require_same_transport(model.scenario, from, to);
      longest_sends[{from, FlowKey{to, 0, 0}}] = piece / kPageBytes * kPageBytes;
      pairs.insert({std::min(from, to), FlowKey{std::max(from, to), 0, 0}});
    }
  }
}

}  // namespace

LongestSends connect_nodes(Model& model) {
  LongestSends longest_sends;
  std::set<std::pair<NodeId, FlowKey>> pairs;  // the lower node first
  const bool separate = model.scenario.traffic.tenants.separate;
  for (const WorkNode& work : model.workload.nodes) {
    if (work.kind != WorkKind::send) continue;
    const NodeId from = model.placement.node_of(work);
    const NodeId to = model.placement.peer_node_of(work);
    if (from == to) continue;  // between ranks of one node: no NIC's business
    require_same_transport(model.scenario, from, to);
    const FlowKey flow{to, separate ? work.job : std::uint8_t{0}, work.traffic_class};
    std::uint64_t& longest = longest_sends[{from, flow}];
    longest = std::max(longest, work.bytes);
    pairs.insert({std::min(from, to), towards(std::max(from, to), flow)});
  }
  if (model.options.live != nullptr) note_live_sends(model, longest_sends, pairs);
  std::map<NodeId, std::size_t> peers;
  for (const auto& [a, flow] : pairs) {
    ++peers[a];
    ++peers[flow.peer];
  }
  for (const auto& [id, count] : peers) model.at(id).transport->reserve(count * model.scenario.traffic.qps_per_peer);
  for (const auto& [a, flow] : pairs) {
    connect_pair(model, {.node = a, .sends = longest_sends.contains({a, flow})},
                 {.node = flow.peer, .sends = longest_sends.contains({flow.peer, towards(a, flow)})}, flow);
  }
  associate(model);
  return longest_sends;
}

void build_channels(Model& model, const LongestSends& longest) {
  // An intruder looks for what others have registered.
  const std::uint32_t passes = model.scenario.traffic.tenants.intruder == 0 ? 1 : 2;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    for (auto& node : model.nodes) {
      for (const auto& [flow, qps] : node->qps_of_flow) {
        const auto send = longest.find({node->id, flow});
        if (is_of_intruder(model, flow) != (pass == 1)) continue;
        // Without a byte in any message there is nothing to register.
        if (send != longest.end() && send->second > 0) build_channel(model, *node, flow, send->second);
      }
    }
  }
}

}  // namespace mrc
