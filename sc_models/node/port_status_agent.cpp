#include "node/port_status_agent.h"

#include <algorithm>
#include <numeric>

#include "mrc/control/probes.h"

namespace mrc {

void PortStatusAgent::find_peers() {
  // Programs connect QPs while time passes; an unconnected one has no paths.
  const auto is_connected = [](const Qp& qp) { return qp.reverse_paths != nullptr; };
  const auto connected = static_cast<std::size_t>(std::count_if(nic_.qps.begin(), nic_.qps.end(), is_connected));
  const auto add = [](std::size_t sum, const auto& qps) { return sum + qps.size(); };
  if (connected == std::accumulate(qps_of_peer_.begin(), qps_of_peer_.end(), std::size_t{0}, add)) return;
  peers_.clear();
  index_of_peer_.clear();
  qps_of_peer_.clear();
  for (std::uint32_t index = 0; index < nic_.qps.size(); ++index) {
    if (!is_connected(nic_.qps[index])) continue;
    const NodeId peer = nic_.qps[index].peer;
    const auto [it, added] = index_of_peer_.try_emplace(peer, static_cast<std::uint32_t>(peers_.size()));
    if (added) {
      peers_.push_back(peer);
      qps_of_peer_.emplace_back();
    }
    qps_of_peer_[it->second].push_back(index);
  }
  status_.assign(peers_.size(), PortStatus(nic_.config.nic.ports));
  for (PortStatus& status : status_) {
    for (std::uint32_t port = 0; port < nic_.config.nic.ports; ++port) status.set_own(port, (lit_ >> port & 1U) != 0);
  }
  announcer_ = PortStatusAnnouncer(static_cast<std::uint32_t>(peers_.size()), nic_.scenario.protocol.probe_timeout_ps);
}

void PortStatusAgent::set_darkness(const std::vector<PortDarkness>& darkness) {
  std::vector<PortDarkness> of_port;
  for (std::size_t i = 0; i < darkness.size(); ++i) {
    of_port.push_back(darkness[i]);
    if (i + 1 < darkness.size() && darkness[i + 1].port == darkness[i].port) continue;
    add_transitions(darkness[i].port, of_port);
    of_port.clear();
  }
  std::stable_sort(transitions_.begin(), transitions_.end(), [](const Transition& a, const Transition& b) {
    return a.at != b.at ? a.at < b.at : a.port < b.port;
  });
}

/// A port is seen down when it has been dark for long enough, and up when it has been lit for long enough.
void PortStatusAgent::add_transitions(std::uint32_t port, const std::vector<PortDarkness>& spans) {
  const TimePs down_detect = ps_from_us(nic_.config.nic.port.down_detect_us);
  const TimePs up_detect = ps_from_us(nic_.config.nic.port.up_detect_us);
  bool up = true;
  for (std::size_t i = 0; i < spans.size();) {
    TimeSpan dark = spans[i].span;
    const std::uint32_t fault = spans[i].fault;
    for (++i; i < spans.size() && spans[i].span.from <= dark.until; ++i) {
      dark.until = std::max(dark.until, spans[i].span.until);
    }
    if (up && (dark.until == kNever || dark.until - dark.from > down_detect)) {
      transitions_.push_back({dark.from + down_detect, port, false, fault});
      up = false;
    }
    const TimePs next = i < spans.size() ? spans[i].span.from : kNever;
    if (up || dark.until == kNever || next - dark.until < up_detect) continue;
    transitions_.push_back({dark.until + up_detect, port, true, fault});
    up = true;
  }
}

TimePs PortStatusAgent::next() const {
  TimePs next = unanswered_ ? announcer_.next_due() : kNever;
  if (next_transition_ < transitions_.size()) next = std::min(next, transitions_[next_transition_].at);
  if (!walks_.empty()) next = std::min(next, walks_.front().at);
  return next;
}

void PortStatusAgent::see(TimePs now, const Transition& transition) {
  find_peers();
  const std::uint32_t bit = 1U << transition.port;
  if (before_change_) before_change_(now);
  lit_ = transition.up ? lit_ | bit : lit_ & ~bit;
  // Without any port, packets are lost on all of them: so their timers run, and QPs end as the protocol asks for.
  const std::uint32_t all = PortStatus(nic_.config.nic.ports).own_mask();
  nic_.ports_up = (lit_ & all) != 0 ? lit_ : ~0U;
  note({now, PortStatusStep::What::seen, transition.up, transition.port, 0, 0, transition.fault});
  for (PortStatus& status : status_) status.set_own(transition.port, transition.up);
  // What a walk that is under way has not reached, and what it has, is written anew.
  std::erase_if(walks_, [](const Walk& walk) { return walk.peer == kAllPeers; });
  walks_.push_back({now + ps_from_us(nic_.config.nic.port.remap_time_us), kAllPeers, 0, transition});
  if (after_change_) after_change_(now);
}

void PortStatusAgent::remap(std::uint32_t index) {
  Qp& qp = nic_.qps[index];
  const auto peer = index_of_peer_.find(qp.peer);
  if (qp.reverse_paths == nullptr || peer == index_of_peer_.end()) return;
  const PortStatus& status = status_[peer->second];
  // A table that QPs to several peers share cannot say that a plane is missing at one of them.
  const bool shared = nic_.scenario.protocol.path_table_scope == PathTableScope::profile;
  const std::uint32_t planes = shared ? status.own_mask() : status.usable();
  // With no plane in common packets are sent and lost, so that they block nothing and their timers run.
  if (qp.paths != nullptr) qp.paths->set_port_status(planes != 0 ? planes : ~0U);
  qp.reverse_paths->set_port_status(status.usable() != 0 ? status.usable() : ~0U);
}

void PortStatusAgent::walk(TimePs now) {
  while (!walks_.empty() && walks_.front().at <= now) {
    Walk& walk = walks_.front();
    const bool all = walk.peer == kAllPeers;
    const auto qps = static_cast<std::uint32_t>(all ? nic_.qps.size() : qps_of_peer_[walk.peer].size());
    const std::uint32_t end = std::min(qps, walk.next + kBatch);
    const std::uint32_t done = end - walk.next;
    for (; walk.next < end; ++walk.next) remap(all ? walk.next : qps_of_peer_[walk.peer][walk.next]);
    walk.at =
        std::max(walk.at, now) + nic_.clock.cycles(std::uint64_t{done} * nic_.config.nic.port.remap_cycles_per_qp);
    if (done > 0) continue;
    const Transition why = walk.why;
    walks_.erase(walks_.begin());
    if (after_change_) after_change_(now);
    if (!all) continue;
    note({now, PortStatusStep::What::remapped, why.up, why.port, 0, qps, why.fault});
    if (peers_.empty()) continue;
    announcer_.announce(status_.front().own_mask(), now);
    unanswered_ = true;
    announced_ = why;
    note({now, PortStatusStep::What::announced, why.up, why.port, 0, static_cast<std::uint32_t>(peers_.size()),
          why.fault});
  }
}

Packet PortStatusAgent::request(TimePs now, Qp& qp, const EndpointFields& fields,
                                const ReversePaths::Choice& path) const {
  Packet packet = probe_header({nic_.node, qp.peer, &qp.route, path.ev, path.plane}, nic_.scenario.protocol, now);
  packet.opcode = Opcode::endpoint_request;
  packet.role = TrafficRole::control;
  packet.psn = fields.request_id;
  packet.endpoint = fields;
  return packet;
}

void PortStatusAgent::update_received(TimePs now, const Packet& packet) {
  find_peers();
  const auto peer = index_of_peer_.find(packet.source_node);
  if (peer == index_of_peer_.end()) return;
  PortStatus& status = status_[peer->second];
  const std::uint32_t before = status.peer_mask();
  status.set_peer(packet.endpoint.port_status_mask);
  const std::uint32_t changed = before ^ status.peer_mask();
  if (changed == 0) return;
  for (std::uint32_t port = 0; port < nic_.config.nic.ports; ++port) {
    if ((changed >> port & 1U) == 0) continue;
    const bool up = (status.peer_mask() >> port & 1U) != 0;
    note({now, PortStatusStep::What::received, up, port, packet.source_node, 1, 0});
  }
  std::erase_if(walks_, [&](const Walk& walk) { return walk.peer == peer->second; });
  walks_.push_back({now, peer->second, 0, {}});
}

void PortStatusAgent::update_answered(TimePs now, const Packet& packet) {
  const auto peer = index_of_peer_.find(packet.source_node);
  if (peer == index_of_peer_.end() || !unanswered_) return;
  announcer_.answered(peer->second, packet.endpoint.request_id);
  if (announcer_.next_due() != kNever) return;
  unanswered_ = false;
  note({now, PortStatusStep::What::answered, announced_.up, announced_.port, 0,
        static_cast<std::uint32_t>(peers_.size()), announced_.fault});
}

}  // namespace mrc
