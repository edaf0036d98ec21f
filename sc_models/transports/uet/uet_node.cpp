#include "transports/uet/uet_node.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "fabric/topology.h"
#include "mrc/control/congestion_registry.h"
#include "mrc/control/path_policy_registry.h"
#include "transports/uet/uet_endpoint.h"

namespace mrc {
namespace {

/// What UET's choices are in the terms of ring 1.
ProtocolConfig protocol_of(const NodeContext& node) {
  const UetConfig& uet = node.scenario.uet;
  const std::uint32_t ports = node.config.nic.ports;
  ProtocolConfig protocol = node.scenario.protocol;
  protocol.ev_count = protocol.ev_active = std::max(uet.entropies / ports, 1U) * ports;
  protocol.timeout_exponent = uet.timeout_exponent;
  protocol.trim_nack = node.scenario.fabric.trim;
  protocol.encapsulation = Encapsulation::none;
  protocol.ev_layout = {};  // switches hash entropy values
  // Entropy values have no states: what happened to them is the policy's business.
  protocol.assumed_bad_losses = std::numeric_limits<std::uint32_t>::max();
  if (uet.path_policy == "rotation") protocol.path_feedback = PathFeedback::oblivious;
  if (!uet.gap_inference) protocol.gap_min_packets = std::numeric_limits<std::uint32_t>::max();
  return protocol;
}

CongestionConfig congestion_of(const NodeContext& node) {
  CongestionConfig congestion = node.scenario.congestion_of(node.config);
  congestion.max_cwnd_follows_rtt = true;
  congestion.last_hop_trim_holds = false;
  if (node.scenario.uet.congestion != UetCongestion::nscc) congestion.last_hop_trim_cuts = false;
  if (node.scenario.uet.congestion == UetCongestion::rccc) congestion.algorithm = "none";
  return congestion;
}

}  // namespace

std::unique_ptr<NodeTransport> make_uet_node(NodeContext& node) {
  return std::make_unique<UetNode>(node);
}

UetNode::UetNode(NodeContext& node)
    : NodeTransport(node), protocol_(protocol_of(node)), congestion_(congestion_of(node)) {}

UetHalves& UetNode::halves_of(const Qp& qp) {
  halves_.resize(node_.qps.size());
  return halves_[node_.index_of(qp)];
}

void UetNode::add_requestor(Qp& qp, Psn first_psn) {
  UetHalves& halves = halves_of(qp);
  const std::string& policy = node_.scenario.uet.path_policy;
  if (!ev_directory_) {
    ev_directory_ = std::make_shared<const EvDirectory>(make_auto_profile(
        protocol_, node_.config.nic.ports, KeyedRandom(node_.scenario.seed, fmt::format("nic{}.entropies", node_.node)),
        ev_uplinks(node_.scenario)));
  }
  const KeyedRandom random(node_.scenario.seed, fmt::format("nic{}.path_table.pdc{}", node_.node, qp.number));
  halves.paths = std::make_unique<PathTable>(
      ev_directory_, protocol_, node_.config.nic.ports, random,
      make_path_policy(policy, static_cast<std::uint32_t>(ev_directory_->profile().value.size()), random));
  path_tables_.push_back(halves.paths.get());
  node_.congestion.push_back({make_congestion_control(congestion_, protocol_), {}});
  qp.congestion = &node_.congestion.back();
  halves.requestor = std::make_unique<Requestor>(protocol_, *halves.paths, *qp.congestion->control, first_psn);
  bring_up(*halves.requestor);
  if (node_.scenario.uet.congestion == UetCongestion::nscc) return;
  halves.credit = std::make_unique<CreditAccount>(most_credit_bytes());
}

void UetNode::add_responder(Qp& qp, Psn first_psn) {
  UetHalves& halves = halves_of(qp);
  halves.responder = std::make_unique<Responder>(protocol_, first_psn, node_.bitmaps, node_.protection, kDomain,
                                                 QpPeer{.node = qp.peer});
  bring_up(*halves.responder);
  halves.responder->post_receive(protocol_.receive_queue_depth);
}

std::unique_ptr<LightNode> UetNode::make_light_node(HostMemory& memory, Network& network,
                                                    const WorkPlacement& placement) {
  halves_.resize(node_.qps.size());
  const std::uint64_t idle_credit = node_.scenario.uet.idle_credit ? most_credit_bytes() : 0;
  return std::make_unique<UetEndpoint>(node_, halves_, protocol_, memory, network, placement, idle_credit);
}

}  // namespace mrc
