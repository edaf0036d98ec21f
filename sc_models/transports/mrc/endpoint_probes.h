// Probes of a light endpoint: EVs that are ASSUMED_BAD, and EV probes for the control packets of QPs that only receive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "mrc/control/probes.h"
#include "mrc/ring.h"
#include "node/node_context.h"

namespace mrc {

class EndpointProbes {
 public:
  explicit EndpointProbes(NodeContext& nic)
      : nic_(nic), random_(nic.scenario.seed, fmt::format("nic{}.probe_engine", nic.node)) {}

  /// A QP's table may have an EV to probe.
  void update(std::uint32_t qp, TimePs now);
  /// Time of the next work of due(), kNever without.
  TimePs next();
  /// Lost probes are reported; each probe that is due is given to `send(qp, packet)`.
  template <typename Send>
  void due(TimePs now, Send send);

  void answered(std::uint16_t probe_id) {
    if (Probe* const probe = outstanding(probe_id)) probe->waiting = false;
  }
  /// The EV probe of a QP that receives without sending, when its round trip is over.
  std::optional<Packet> data_received(TimePs now, Qp& qp, const Packet& data, bool duplicate);
  void response(const Packet& packet);
  /// The response to an ENDPOINT_REQUEST from `peer`.
  Packet reply(NodeId peer, const UsidTemplate& route, const Packet& request) const;

 private:
  struct Probe {
    TimePs due = 0;
    std::uint32_t qp = 0;
    Ev value = 0;
    EvIndex ev = kNoEv;
    std::uint8_t plane = 0;
    bool waiting = false;
  };

  /// Null for a number that is not among sent_.
  Probe* outstanding(std::uint16_t id) {
    const auto first = static_cast<std::uint16_t>(next_id_ - sent_.size());
    const auto position = static_cast<std::uint16_t>(id - first);
    return position < sent_.size() ? &sent_[position] : nullptr;
  }
  /// Probes an EV of the QP that is due; when it is to be looked at again.
  template <typename Send>
  TimePs probe(TimePs now, std::uint32_t qp, const Send& send);
  ProbePath path(const Qp& qp, Ev ev, std::uint8_t plane) const { return {nic_.node, qp.peer, &qp.route, ev, plane}; }
  /// On an EV that is drawn. Precondition: not full().
  Packet next_ev_probe(TimePs now, const Qp& qp);
  std::size_t most() const { return nic_.config.nic.probe_engine.outstanding_probes; }
  bool full() const { return sent_.size() >= most(); }
  std::uint16_t remember(const Probe& probe) {
    sent_.push(probe);
    return next_id_++;
  }

  NodeContext& nic_;
  KeyedRandom random_;
  Ring<Probe> sent_;  ///< with numbers that follow each other, up to next_id_
  /// A QP with an EV to probe, and when it is looked at.
  struct Turn {
    TimePs at = 0;
    std::uint32_t qp = 0;
  };
  static constexpr std::uint32_t kNotBad = ~0U;
  std::vector<Turn> bad_qps_;              ///< each once
  std::vector<std::uint32_t> bad_number_;  ///< by QP, as far as needed: its number in bad_qps_
  TimePs next_bad_at_ = kNever;            ///< the earliest of these, for the many times when nothing is due
  std::uint16_t next_id_ = 0;
  std::uint32_t plane_turn_ = 0;
};

inline void EndpointProbes::update(std::uint32_t index, TimePs now) {
  const TimePs next = nic_.qps[index].paths->next_probe_time();
  if (next == kNever) return;
  const TimePs at = std::max(next, now);
  if (index >= bad_number_.size()) bad_number_.resize(index + 1, kNotBad);
  std::uint32_t& number = bad_number_[index];
  if (number == kNotBad) {
    number = static_cast<std::uint32_t>(bad_qps_.size());
    bad_qps_.push_back({at, index});
  }
  bad_qps_[number].at = std::min(bad_qps_[number].at, at);
  next_bad_at_ = std::min(next_bad_at_, at);
}

inline TimePs EndpointProbes::next() {
  while (!sent_.empty() && !sent_.front().waiting) sent_.pop();
  return sent_.empty() ? next_bad_at_ : std::min(sent_.front().due, next_bad_at_);
}

template <typename Send>
void EndpointProbes::due(TimePs now, Send send) {
  while (!sent_.empty()) {
    const Probe probe = sent_.front();
    if (probe.waiting && probe.due > now) break;
    sent_.pop();
    if (!probe.waiting) continue;
    Qp& qp = nic_.qps[probe.qp];
    if (probe.ev != kNoEv) {
      qp.paths->report(probe.ev, PathEvent::probe_lost, now);
      update(nic_.index_of(qp), now);
    } else if (repeats_ev_probe(qp.reverse_probe)) {
      send(qp, next_ev_probe(now, qp));
    }
  }
  if (next_bad_at_ > now) return;
  next_bad_at_ = kNever;
  for (std::size_t i = 0; i < bad_qps_.size(); ++i) {
    if (bad_qps_[i].at <= now) {
      const TimePs at = probe(now, bad_qps_[i].qp, send);
      bad_qps_[i].at = at;
    }
    Turn& turn = bad_qps_[i];
    next_bad_at_ = std::min(next_bad_at_, turn.at);
    if (turn.at != kNever) continue;
    bad_number_[turn.qp] = kNotBad;
    turn = bad_qps_.back();
    bad_qps_.pop_back();
    if (i < bad_qps_.size()) bad_number_[turn.qp] = static_cast<std::uint32_t>(i);
    --i;
  }
}

template <typename Send>
TimePs EndpointProbes::probe(TimePs now, std::uint32_t index, const Send& send) {
  Qp& qp = nic_.qps[index];
  const EvIndex ev = qp.paths->take_due_probe(now);
  if (ev != kNoEv && full()) {
    qp.paths->probe_not_sent(ev);
  } else if (ev != kNoEv) {
    const ProtocolConfig& protocol = nic_.scenario.protocol;
    const ProbePath on = path(qp, qp.paths->value(ev), qp.paths->plane(ev));
    const std::uint16_t id = remember({now + protocol.probe_timeout_ps, index, on.ev, ev, on.plane, true});
    send(qp, reliability_probe(on, qp.peer_number, id, protocol, now));
  }
  const TimePs at = qp.paths->next_probe_time();
  return at == kNever ? kNever : std::max(at, now + 1);
}

inline std::optional<Packet> EndpointProbes::data_received(TimePs now, Qp& qp, const Packet& data, bool duplicate) {
  if (!qp.reverse_probe.is_due(data.payload_bytes, now)) return std::nullopt;
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const TimePs round_trip = nic_.scenario.cc.base_rtt_ps;
  const bool owed = owes_ev_probe(qp.reverse_probe, duplicate, qp.sends(), protocol, round_trip, now);
  if (!owed || full()) return std::nullopt;
  return next_ev_probe(now, qp);
}

inline Packet EndpointProbes::next_ev_probe(TimePs now, const Qp& qp) {
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const auto plane = static_cast<std::uint8_t>(plane_turn_++ % nic_.config.nic.ports);
  const Ev ev = protocol.ev_layout.fitted(static_cast<Ev>(random_.next()), plane, qp.route.uplinks);
  const ProbePath on = path(qp, ev, plane);
  const std::uint16_t id = remember({now + protocol.probe_timeout_ps, nic_.index_of(qp), on.ev, kNoEv, plane, true});
  return ev_probe(on, id, protocol, now);
}

inline void EndpointProbes::response(const Packet& packet) {
  Probe* const probe = outstanding(packet.endpoint.request_id);
  if (probe == nullptr || !probe->waiting || probe->ev != kNoEv) return;
  probe->waiting = false;
  Qp& qp = nic_.qps[probe->qp];
  qp.reverse_paths->confirm(probe->plane, probe->value);
  qp.reverse_probe.repeats = 0;
}

inline Packet EndpointProbes::reply(NodeId peer, const UsidTemplate& route, const Packet& request) const {
  return endpoint_response({nic_.node, peer, &route, request.ev, request.plane}, request, nic_.scenario.protocol);
}

}  // namespace mrc
