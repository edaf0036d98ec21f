// The security associations of a node: which association a packet belongs to, the packet numbers that it gives out, and
// the replay windows of what it receives. Detailed NICs and light endpoints use the same; what an engine, its keys and
// their memories cost is the boxes' matter.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mrc/encryption.h"
#include "mrc/rx/replay_window.h"
#include "node/qp.h"

namespace mrc {

class Associations {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  /// What becomes of a packet whose tag is right.
  enum class Admission : std::uint8_t {
    accepted,
    replayed,    ///< its number was accepted before
    too_old,     ///< its number is below the replay window
    unverified,  ///< trimmed, so that it has no tag, and such packets are dropped
    unknown      ///< no association has its SPI
  };

  /// `qps` is complete. Each association has two directions with keys of their own.
  Associations(const EncryptionConfig& config, const std::vector<Qp>& qps);

  bool covers(const Packet& packet) const { return config_.covers(packet.opcode); }
  /// In one direction.
  std::uint32_t count() const { return static_cast<std::uint32_t>(next_number_.size()); }
  /// Of a packet that the QP with this index sends.
  std::uint32_t outgoing(std::uint32_t qp) const {
    return config_.association == AssociationScope::qp ? qp : peer_of_qp_[qp];
  }
  /// Of a packet that is ready to be sent, by its destination; kNone where there is no QP to it.
  std::uint32_t outgoing(const Packet& packet) const;
  /// Of a packet that has come; kNone where no association has its SPI.
  std::uint32_t incoming(const Packet& packet) const;

  /// The next number of the association.
  std::uint64_t number(std::uint32_t association) { return ++next_number_[association]; }
  /// The packet of association `incoming(packet)` is decrypted, and its tag is right unless it is trimmed.
  Admission admit(std::uint32_t association, const Packet& packet);

 private:
  std::uint32_t of_peer(NodeId peer) const;

  EncryptionConfig config_;
  std::uint32_t qps_;                                               ///< associations that belong to QPs
  std::vector<std::uint32_t> peer_of_qp_;                           ///< association of a QP's peer
  std::unordered_map<NodeId, std::uint32_t> peers_;                 ///< association by peer
  std::unordered_map<std::uint64_t, std::uint32_t> qp_of_address_;  ///< by peer and its QP number
  std::vector<std::uint64_t> next_number_;
  std::vector<ReplayWindow> windows_;
};

}  // namespace mrc
