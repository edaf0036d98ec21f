#include "programs/program_host.h"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>

namespace mrc {

ProgramHost::ProgramHost(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device,
                         HostMemory& memory, const WorkPlacement& placement, NodeTransport& transport,
                         const Topology& topology)
    : Host(name, owner, nic, device, memory, placement),
      transport_(transport),
      topology_(topology),
      ev_profile_(ev_profile_of(nic.scenario, nic.node)),
      ev_profile_of_qp_(nic.qps.size(), 0),
      least_active_evs_(nic.scenario.protocol.least_active_evs()),
      congestion_(nic.scenario.congestion_of(nic.config)) {
  device.probe_engine().use_routes([this](NodeId peer) { return topology_.route(nic_.node, peer); });
}

std::uint32_t ProgramHost::ports_up() const {
  const std::uint32_t all = nic_.config.nic.ports >= 32 ? ~0U : (1U << nic_.config.nic.ports) - 1;
  return static_cast<std::uint32_t>(std::popcount(device_.port_status().lit() & all));
}

void ProgramHost::connect(std::uint32_t index, const QpConnection& to) {
  Qp& qp = nic_.qps[index];
  qp.peer = to.peer;
  qp.peer_number = to.peer_number;
  qp.route = topology_.route(nic_.node, to.peer);
  const KeyedRandom random(nic_.scenario.seed, fmt::format("nic{}.qp{}.reverse_paths", nic_.node, qp.number));
  qp.reverse_paths =
      std::make_unique<ReversePaths>(nic_.config.nic.ports, random, nic_.scenario.protocol.ev_layout, qp.route.uplinks);
  transport_.add_responder(qp, to.receive_psn);
}

void ProgramHost::start_sending(TimePs now, std::uint32_t index, Psn first) {
  Qp& qp = nic_.qps[index];
  transport_.add_requestor(qp, first);
  ev_profile_of_qp_[index] = ev_profiles_;
  qp.paths->copy_events(ev_events_);
  qp.paths->set_least_active(least_active_evs_);
  for (const EvIndex ev : denied_) deny_for(index, ev);
  device_.begin_sending(now, qp);
}

NicPathTable* ProgramHost::paths_of(std::uint32_t qp) const {
  return ev_profile_of_qp_[qp] == ev_profiles_ ? nic_.qps[qp].paths : nullptr;
}

const PathTable* ProgramHost::path_table(std::uint32_t qp) const {
  const NicPathTable* paths = paths_of(qp);
  return paths == nullptr ? nullptr : &paths->table();
}

void ProgramHost::set_ev_profile(const EvProfile& profile, const std::set<EvIndex>& denied) {
  ev_profile_ = profile;
  ++ev_profiles_;
  denied_ = denied;
  ev_events_.clear();
  transport_.set_ev_profile(profile);
}

void ProgramHost::deny_for(std::uint32_t qp, EvIndex ev) {
  NicPathTable* paths = paths_of(qp);
  // QPs may share a table.
  if (paths != nullptr && paths->table().state(ev) != EvState::denied) paths->deny(ev);
}

void ProgramHost::deny(EvIndex ev) {
  denied_.insert(ev);
  for (std::uint32_t qp = 0; qp < qps(); ++qp) deny_for(qp, ev);
}

void ProgramHost::allow(TimePs now, EvIndex ev) {
  denied_.erase(ev);
  for (std::uint32_t qp = 0; qp < qps(); ++qp) {
    if (NicPathTable* paths = paths_of(qp)) paths->allow(ev);
  }
  device_.paths_changed(now);
}

void ProgramHost::set_congestion(const CongestionConfig& config, bool anew) {
  congestion_ = config;
  transport_.set_congestion(config, anew);
}

void ProgramHost::fail(TimePs now, std::uint32_t index) {
  Qp& qp = nic_.qps[index];
  if (qp.receiver) qp.receiver->to_error();
  if (qp.sender && qp.sender->state() != QpState::error) device_.sack_processor().responder_failed(now, qp);
}

void ProgramHost::post_request(TimePs now, std::uint32_t qp, const WorkRequest& request) {
  HostStatistics& statistics = player().statistics();
  if (request.id >= posted_.size()) posted_.resize(request.id + 1);
  posted_[request.id] = {now, request.bytes};
  ++statistics.messages_started;
  statistics.first_doorbell = std::min(statistics.first_doorbell, now + ps_from_ns(nic_.config.host.post_ns));
  message_begun(now);
  post(now, qp, request, statistics.first_doorbell);
}

Cqe ProgramHost::take_completion(TimePs now) {
  const Cqe cqe = completions_.pop(now);
  note_completion(now, cqe);
  if (cqe.kind == Cqe::Kind::receive) return cqe;
  message_completed(now);
  HostStatistics& statistics = player().statistics();
  const Posted& posted = posted_[cqe.id];
  statistics.last_completion = std::max(statistics.last_completion, now);
  if (cqe.status == CompletionStatus::success) {
    ++statistics.messages_completed;
    statistics.acknowledged_bytes += posted.bytes;
    statistics.message_times.push_back(now - posted.at);
  } else {
    ++statistics.messages_failed;
  }
  return cqe;
}

}  // namespace mrc
