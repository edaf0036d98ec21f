// Port status between two nodes: which planes both ends can use, and the PORT_STATUS_UPDATE requests that tell the
// others when a port goes down or comes back (paper: peers drop that plane; OCP MRC 1.0: an endpoint operation).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// State of the ports of a node and of one peer. Bit p is port p, which is plane p.
class PortStatus {
 public:
  /// All `ports`, 1 … 32, are up at both ends.
  explicit PortStatus(std::uint32_t ports) : all_(ports >= 32 ? ~0U : (1U << ports) - 1), own_(all_), peer_(all_) {}

  /// True if the peer must be notified. Precondition: port < ports.
  bool set_own(std::uint32_t port, bool up) {
    const std::uint32_t before = own_;
    own_ = up ? own_ | 1U << port : own_ & ~(1U << port);
    return own_ != before;
  }
  /// A PORT_STATUS_UPDATE of the peer; bits of ports that do not exist are ignored. True if the usable planes change.
  bool set_peer(std::uint32_t mask) {
    const std::uint32_t before = usable();
    peer_ = mask & all_;
    return usable() != before;
  }
  /// Ports of the peer that are up according to its last update.
  std::uint32_t peer_mask() const { return peer_; }
  /// ERTH.port_status_mask to send.
  std::uint32_t own_mask() const { return own_; }
  /// Planes that both ends can use: for PathTable::set_port_status() and ReversePaths::set_port_status().
  std::uint32_t usable() const { return own_ & peer_; }

 private:
  std::uint32_t all_;
  std::uint32_t own_;
  std::uint32_t peer_;
};

/// Requests that tell peers of a new mask; each is repeated until it is answered, the newest mask replaces an older
/// one.
class PortStatusAnnouncer {
 public:
  /// `peers` nodes are notified; an unanswered request is repeated after `timeout_ps` (assumption).
  PortStatusAnnouncer(std::uint32_t peers, TimePs timeout_ps) : timeout_ps_(timeout_ps), pending_(peers) {}

  struct Request {
    std::uint32_t peer = 0;
    EndpointFields fields;
  };

  /// The mask has changed: all peers are notified, from `now` on.
  void announce(std::uint32_t mask, TimePs now) {
    for (Pending& pending : pending_) pending = {mask, now, next_id_++, true};
  }
  /// A request that is due at `now`; false if there is none.
  bool take_due(TimePs now, Request& request) {
    for (std::size_t peer = 0; peer < pending_.size(); ++peer) {
      Pending& pending = pending_[peer];
      if (!pending.waiting || pending.due > now) continue;
      pending.due = now + timeout_ps_;
      request = {static_cast<std::uint32_t>(peer),
                 {.port_status_mask = pending.mask, .request_id = pending.id, .op = EndpointOp::port_status_update}};
      return true;
    }
    return false;
  }
  /// An ENDPOINT_RESPONSE of `peer`; an answer to an older request does not confirm the newest mask.
  void answered(std::uint32_t peer, std::uint16_t request_id) {
    if (pending_[peer].id == request_id) pending_[peer].waiting = false;
  }
  /// Time of the next request of take_due(); kNever after all answers.
  TimePs next_due() const {
    TimePs due = kNever;
    for (const Pending& pending : pending_) {
      if (pending.waiting) due = std::min(due, pending.due);
    }
    return due;
  }

 private:
  struct Pending {
    std::uint32_t mask = 0;
    TimePs due = 0;
    std::uint16_t id = 0;
    bool waiting = false;
  };

  TimePs timeout_ps_;
  std::uint16_t next_id_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace mrc
