#include "node/associations.h"

namespace mrc {
namespace {

std::uint64_t address_of(NodeId node, QpNumber qp) {
  return std::uint64_t{node} << 32 | qp;
}

bool is_endpoint(Opcode opcode) {
  return opcode == Opcode::endpoint_request || opcode == Opcode::endpoint_response;
}

}  // namespace

Associations::Associations(const EncryptionConfig& config, const std::vector<Qp>& qps)
    : config_(config), qps_(config.association == AssociationScope::qp ? static_cast<std::uint32_t>(qps.size()) : 0) {
  for (std::uint32_t index = 0; index < qps.size(); ++index) {
    const auto of_peer = peers_.try_emplace(qps[index].peer, qps_ + static_cast<std::uint32_t>(peers_.size())).first;
    peer_of_qp_.push_back(of_peer->second);
    qp_of_address_.emplace(address_of(qps[index].peer, qps[index].peer_number), index);
  }
  next_number_.resize(qps_ + peers_.size());
  windows_.assign(next_number_.size(), ReplayWindow(config.replay_window));
}

std::uint32_t Associations::of_peer(NodeId peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? kNone : found->second;
}

std::uint32_t Associations::outgoing(const Packet& packet) const {
  if (config_.association == AssociationScope::peer || is_endpoint(packet.opcode)) {
    return of_peer(packet.destination_node);
  }
  const auto found = qp_of_address_.find(address_of(packet.destination_node, packet.destination_qp));
  return found == qp_of_address_.end() ? kNone : found->second;
}

std::uint32_t Associations::incoming(const Packet& packet) const {
  if (config_.association == AssociationScope::peer || is_endpoint(packet.opcode)) return of_peer(packet.source_node);
  const std::uint64_t index = std::uint64_t{packet.destination_qp} - kFirstQpNumber;
  return index < qps_ ? static_cast<std::uint32_t>(index) : kNone;
}

Associations::Admission Associations::admit(std::uint32_t association, const Packet& packet) {
  if (association == kNone) return Admission::unknown;
  // Without a tag a number proves nothing: it must not move the window.
  if (packet.damage == Damage::trimmed) {
    return config_.trimmed == TrimmedAction::drop ? Admission::unverified : Admission::accepted;
  }
  switch (windows_[association].accept(packet.packet_number)) {
    case ReplayWindow::Verdict::replayed:
      return Admission::replayed;
    case ReplayWindow::Verdict::too_old:
      return Admission::too_old;
    case ReplayWindow::Verdict::fresh:
      break;
  }
  return Admission::accepted;
}

}  // namespace mrc
