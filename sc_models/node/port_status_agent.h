// What a node does when one of its ports goes dark or is lit again: it stops sending through it at once, walks over the
// EV tables of its QPs, and tells its peers by PORT_STATUS_UPDATE until each has answered; and what it does when a peer
// tells it so. The rules are ring 1's (PortStatus, PortStatusAnnouncer); this is when. Detailed NICs and light
// endpoints both have one, driven by their own timers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "fabric/fault_timeline.h"
#include "fabric/port_status_step.h"
#include "mrc/control/port_status.h"
#include "mrc/ring.h"
#include "node/node_context.h"

namespace mrc {

class PortStatusAgent {
 public:
  static constexpr std::size_t kMostSteps = 4096;

  /// `nic.qps` is complete.
  explicit PortStatusAgent(NodeContext& nic) : nic_(nic) {}

  /// When ports go dark, by port and time; told before the run.
  void set_darkness(const std::vector<PortDarkness>& darkness);
  /// Called before the set of ports in use changes, and after.
  void on_change(std::function<void(TimePs)> before, std::function<void(TimePs)> after) {
    before_change_ = std::move(before);
    after_change_ = std::move(after);
  }

  /// When due() has something to do, kNever without.
  TimePs next() const;
  /// `send(qp, packet)` takes each request to a peer.
  template <typename Send>
  void due(TimePs now, Send send);
  /// PORT_STATUS_UPDATE of a peer; the caller answers it.
  void update_received(TimePs now, const Packet& packet);
  void update_answered(TimePs now, const Packet& packet);

  /// Bit p: port p is seen up.
  std::uint32_t lit() const { return lit_; }
  /// When a port is seen to change next; kNever: not any more.
  TimePs next_change() const {
    return next_transition_ < transitions_.size() ? transitions_[next_transition_].at : kNever;
  }

  /// The first `kMostSteps`.
  const std::vector<PortStatusStep>& steps() const { return steps_; }

 private:
  struct Transition {
    TimePs at;
    std::uint32_t port;
    bool up;
    std::uint32_t fault;
  };
  struct Walk {
    TimePs at = 0;
    std::uint32_t peer = kAllPeers;
    std::uint32_t next = 0;
    Transition why{};
  };
  static constexpr std::uint32_t kAllPeers = 0xFFFF'FFFF;
  static constexpr std::uint32_t kBatch = 32;  ///< QPs of a walk that are done at one event

  void find_peers();
  void add_transitions(std::uint32_t port, const std::vector<PortDarkness>& spans);
  void see(TimePs now, const Transition& transition);
  void walk(TimePs now);
  void remap(std::uint32_t qp);
  void note(const PortStatusStep& step) {
    if (steps_.size() < kMostSteps) steps_.push_back(step);
  }
  Packet request(TimePs now, Qp& qp, const EndpointFields& fields, const ReversePaths::Choice& path) const;

  NodeContext& nic_;
  std::vector<Transition> transitions_;  ///< in order of time
  std::size_t next_transition_ = 0;
  std::vector<NodeId> peers_;
  std::map<NodeId, std::uint32_t> index_of_peer_;
  std::vector<std::vector<std::uint32_t>> qps_of_peer_;
  std::vector<PortStatus> status_;  ///< by peer
  std::vector<Walk> walks_;         ///< one after another
  PortStatusAnnouncer announcer_{0, 0};
  bool unanswered_ = false;
  Transition announced_{};
  std::uint32_t lit_ = ~0U;  ///< ports that are seen up
  std::vector<PortStatusStep> steps_;
  std::function<void(TimePs)> before_change_;
  std::function<void(TimePs)> after_change_;
};

template <typename Send>
void PortStatusAgent::due(TimePs now, Send send) {
  while (next_transition_ < transitions_.size() && transitions_[next_transition_].at <= now) {
    see(now, transitions_[next_transition_++]);
  }
  walk(now);
  if (!unanswered_) return;
  PortStatusAnnouncer::Request due;
  while (announcer_.take_due(now, due)) {
    Qp& qp = nic_.qps[qps_of_peer_[due.peer].front()];
    const ReversePaths::Choice path = qp.reverse_paths->pick(nic_.ports_up);
    if (path.found) send(qp, request(now, qp, due.fields, path));
  }
}

}  // namespace mrc
