#include "programs/program_host.h"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>

namespace mrc {

ProgramHost::ProgramHost(NodeContext& context, WorkPlayer& player, NodeTransport& transport, const Topology& topology)
    : context_(context),
      player_(player),
      transport_(transport),
      topology_(topology),
      ev_profile_(ev_profile_of(context.scenario, context.node)),
      ev_profile_of_qp_(context.qps.size(), 0),
      least_active_evs_(context.scenario.protocol.least_active_evs()),
      congestion_(context.scenario.congestion_of(context.config)) {}

std::uint32_t ProgramHost::ports_up() const {
  const std::uint32_t all = context_.config.nic.ports >= 32 ? ~0U : (1U << context_.config.nic.ports) - 1;
  return static_cast<std::uint32_t>(std::popcount(lit_ports() & all));
}

void ProgramHost::connect(std::uint32_t index, const QpConnection& to) {
  Qp& qp = context_.qps[index];
  qp.peer = to.peer;
  qp.peer_number = to.peer_number;
  qp.route = topology_.route(context_.node, to.peer);
  const KeyedRandom random(context_.scenario.seed, fmt::format("nic{}.qp{}.reverse_paths", context_.node, qp.number));
  qp.reverse_paths = std::make_unique<ReversePaths>(context_.config.nic.ports, random,
                                                    context_.scenario.protocol.ev_layout, qp.route.uplinks);
  transport_.add_responder(qp, to.receive_psn);
  half_added(qp);
}

void ProgramHost::start_sending(TimePs now, std::uint32_t index, Psn first) {
  Qp& qp = context_.qps[index];
  transport_.add_requestor(qp, first);
  ev_profile_of_qp_[index] = ev_profiles_;
  qp.paths->copy_events(ev_events_);
  qp.paths->set_least_active(least_active_evs_);
  for (const EvIndex ev : denied_) deny_for(index, ev);
  half_added(qp);
  begins_sending(now, qp);
}

NicPathTable* ProgramHost::paths_of(std::uint32_t qp) const {
  return ev_profile_of_qp_[qp] == ev_profiles_ ? context_.qps[qp].paths : nullptr;
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
  paths_changed(now);
}

void ProgramHost::set_congestion(const CongestionConfig& config, bool anew) {
  congestion_ = config;
  transport_.set_congestion(config, anew);
}

void ProgramHost::fail(TimePs now, std::uint32_t index) {
  Qp& qp = context_.qps[index];
  if (qp.receiver) qp.receiver->to_error();
  if (qp.sender && qp.sender->state() != QpState::error) fail_sender(now, qp);
}

void ProgramHost::post_request(TimePs now, std::uint32_t qp, const WorkRequest& request) {
  if (request.id >= posted_.size()) posted_.resize(request.id + 1);
  posted_[request.id] = {now, request.bytes};
  ++statistics().messages_started;
  statistics().first_doorbell = std::min(statistics().first_doorbell, now + ps_from_ns(context_.config.host.post_ns));
  hand_over(now, qp, request, statistics().first_doorbell);
}

Cqe ProgramHost::take_completion(TimePs now) {
  const Cqe cqe = pop_completion(now);
  if (cqe.kind == Cqe::Kind::receive) return cqe;
  const Posted& posted = posted_[cqe.id];
  statistics().last_completion = std::max(statistics().last_completion, now);
  if (cqe.status == CompletionStatus::success) {
    ++statistics().messages_completed;
    statistics().acknowledged_bytes += posted.bytes;
    statistics().message_times.push_back(now - posted.at);
  } else {
    ++statistics().messages_failed;
  }
  return cqe;
}

}  // namespace mrc
