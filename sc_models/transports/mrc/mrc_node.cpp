#include "transports/mrc/mrc_node.h"

#include <fmt/format.h>

#include "fabric/topology.h"
#include "mrc/control/congestion_registry.h"
#include "mrc/control/path_policy_registry.h"
#include "nic/mrc_halves.h"
#include "transports/mrc/mrc_endpoint.h"

namespace mrc {

std::unique_ptr<NodeTransport> make_mrc_node(NodeContext& node) {
  return std::make_unique<MrcNode>(node);
}

MrcNode::MrcNode(NodeContext& node) : NodeTransport(node) {}

CongestionDomain& MrcNode::congestion_for(const Qp& qp) {
  const ProtocolConfig& protocol = node_.scenario.protocol;
  // Classes wait in queues of their own, and tenants must not use up each other's window.
  CongestionDomain*& shared = congestion_of_flow_[qp.flow()];
  if (shared != nullptr && protocol.congestion_scope != CongestionScope::qp) return *shared;
  node_.congestion.push_back({make_control(), {}});
  shared = &node_.congestion.back();
  return *shared;
}

std::unique_ptr<CongestionControl> MrcNode::make_control() const {
  const CongestionConfig config = congestion_ ? *congestion_ : node_.scenario.congestion_of(node_.config);
  return make_congestion_control(config, node_.scenario.protocol);
}

void MrcNode::set_congestion(const CongestionConfig& config, bool anew) {
  congestion_ = config;
  if (anew) {
    congestion_of_flow_.clear();
    return;
  }
  const CongestionConfig derived = derive_nscc(config, node_.scenario.protocol);
  for (const CongestionDomain& domain : node_.congestion) domain.control->change(derived);
}

void MrcNode::set_ev_profile(const EvProfile& profile) {
  ev_directory_ = std::make_shared<const EvDirectory>(profile);
  for (auto& [peer, table] : shared_paths_) earlier_paths_.push_back(std::move(table));
  shared_paths_.clear();
}

std::unique_ptr<NicPathTable> MrcNode::make_table(const std::string& owner) const {
  const ProtocolConfig& protocol = node_.scenario.protocol;
  if (!ev_directory_) ev_directory_ = std::make_shared<const EvDirectory>(ev_profile_of(node_.scenario, node_.node));
  const KeyedRandom random(node_.scenario.seed, fmt::format("nic{}.path_table.{}", node_.node, owner));
  return std::make_unique<NicPathTable>(
      ev_directory_, protocol, node_.config.nic.ports, random,
      make_path_policy(protocol.path_policy, static_cast<std::uint32_t>(ev_directory_->profile().value.size()),
                       random));
}

void MrcNode::give_paths(Qp& qp) {
  const PathTableScope scope = node_.scenario.protocol.path_table_scope;
  if (scope == PathTableScope::qp) {
    qp.own_paths = make_table(fmt::format("qp{}", qp.number));
    qp.paths = qp.own_paths.get();
    path_tables_.push_back(&qp.paths->table());
    return;
  }
  const bool by_destination = scope == PathTableScope::destination;
  auto& table = shared_paths_[by_destination ? qp.peer : 0];
  if (!table) {
    table = make_table(by_destination ? fmt::format("nic{}", qp.peer) : "profile");
    path_tables_.push_back(&table->table());
  }
  qp.paths = table.get();
}

void MrcNode::add_requestor(Qp& qp, Psn first_psn) {
  qp.congestion = &congestion_for(qp);
  give_paths(qp);
  give_sender(qp, first_psn);
}

void MrcNode::give_sender(Qp& qp, Psn first_psn) {
  auto sender = std::make_unique<MrcSender>(node_.scenario.protocol, *qp.paths, *qp.congestion->control, first_psn);
  bring_up(sender->requestor);
  qp.sender = std::move(sender);
}

void MrcNode::add_responder(Qp& qp, Psn first_psn) {
  give_receiver(qp, first_psn);
  bring_up(responder_of(qp));
}

void MrcNode::give_receiver(Qp& qp, Psn first_psn) {
  qp.receiver = std::make_unique<MrcReceivingHalf>(node_.scenario.protocol, first_psn, node_.bitmaps, node_.protection,
                                                   domain_of(qp.tenant), QpPeer{.node = qp.peer});
}

void MrcNode::close(Qp& qp, Psn first_received) {
  if (!qp.receiver) return;
  // What an error has left above a gap holds banks.
  PsnTracker window = responder_of(qp).tracker();
  window.release();
  give_receiver(qp, first_received);
}

void MrcNode::reopen(Qp& qp, Psn first_sent) {
  const ProtocolConfig& protocol = node_.scenario.protocol;
  if (qp.sender) {
    if (protocol.congestion_scope == CongestionScope::qp) qp.congestion->control = make_control();
    give_sender(qp, first_sent);
  }
  if (!qp.receiver) return;
  bring_up(responder_of(qp));
  qp.receiver->post_receive(protocol.receive_queue_depth);
}

std::unique_ptr<LightNode> MrcNode::make_light_node(HostMemory& memory, Network& network,
                                                    const WorkPlacement& placement) {
  return std::make_unique<MrcEndpoint>(node_, memory, network, placement);
}

}  // namespace mrc
