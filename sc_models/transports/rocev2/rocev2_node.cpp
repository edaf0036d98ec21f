#include "transports/rocev2/rocev2_node.h"

#include "transports/rocev2/rocev2_endpoint.h"

namespace mrc {

std::unique_ptr<NodeTransport> make_rocev2_node(NodeContext& node) {
  return std::make_unique<Rocev2Node>(node);
}

Rocev2Node::Rocev2Node(NodeContext& node) : NodeTransport(node), config_(node.scenario.rocev2.rc) {
  config_.mtu_bytes = node.scenario.protocol.mtu_bytes;
}

RcHalves& Rocev2Node::halves_of(const Qp& qp) {
  halves_.resize(node_.qps.size());
  return halves_[node_.index_of(qp)];
}

void Rocev2Node::add_requestor(Qp& qp, Psn first_psn) {
  halves_of(qp).requestor =
      std::make_unique<RcRequestor>(config_, node_.scenario.rocev2.rate, node_.config.nic.port_gbps, first_psn);
}

void Rocev2Node::add_responder(Qp& qp, Psn first_psn) {
  RcHalves& halves = halves_of(qp);
  halves.responder = std::make_unique<RcResponder>(config_, first_psn, node_.protection, domain_of(qp.tenant));
  halves.notifications = std::make_unique<CnpGenerator>(node_.scenario.rocev2.rate);
}

std::unique_ptr<LightNode> Rocev2Node::make_light_node(HostMemory& memory, Network& network,
                                                       const WorkPlacement& placement) {
  halves_.resize(node_.qps.size());
  return std::make_unique<Rocev2Endpoint>(node_, halves_, memory, network, placement);
}

}  // namespace mrc
