// What a controller hears of EVs: events of their states, and answers to its probes (OCP's mrc_ctl.h, by
// verbs/libmrc.cpp).
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "programs/verbs_node.h"

namespace mrc {

using namespace verbs;

// ---- events

VerbsAnswer VerbsNode::watch_evs(std::uint32_t process, std::uint32_t number) {
  Cq* cq = find(cqs_, process, number);
  if (cq == nullptr || cq->users > 0) return {.error = EINVAL};
  cq->of_evs = true;
  return {};
}

void VerbsNode::look_at_evs() {
  for (const EvEvent& event : host_->take_ev_events()) tell_ev(event.time + notice_ps_, event.ev);
}

void VerbsNode::look_at_bad_evs(TimePs now) {
  for (const EvIndex ev : std::set<EvIndex>(told_bad_)) tell_ev(now, ev);
}

void VerbsNode::tell_ev(TimePs at, EvIndex ev) {
  // A QP in ERROR may have EVs of an earlier profile.
  if (ev >= host_->ev_profile().value.size()) return;
  const bool bad = is_bad(ev);
  if (bad == told_bad_.contains(ev)) return;
  if (bad) {
    told_bad_.insert(ev);
  } else {
    told_bad_.erase(ev);
  }
  const std::uint32_t state = bad ? kEvAssumedBad : kEvGood;
  if ((event_mask_ & state) == 0) return;
  const EvProfile& profile = host_->ev_profile();
  for (auto& [number, cq] : cqs_) {
    if (!cq.of_evs) continue;
    if (cq.entries.size() >= cq.capacity) {
      ++cq.dropped;
      continue;
    }
    complete(number, at,
             {.status = state,
              .opcode = kWcOfEv,
              .bytes = std::exchange(cq.dropped, 0),
              .immediate = profile.value[ev],
              .qp_number = profile.plane[ev]},
             true);
  }
}

/// Somebody waits for an EV that is probed: time goes on.
bool VerbsNode::awaits_ev() const {
  if (told_bad_.empty() || (event_mask_ & kEvGood) == 0) return false;
  return std::any_of(cqs_.begin(), cqs_.end(),
                     [](const auto& numbered) { return numbered.second.of_evs && numbered.second.armed; });
}

// ---- probes

bool VerbsNode::may_probe(const ProbeOrder& wanted) const {
  const bool there = wanted.node < nodes_->size() && (*nodes_)[wanted.node] != nullptr;
  if (!there || wanted.node == host_->node() || wanted.port >= host_->config().nic.ports) return false;
  return leads_through(wanted.value, wanted.port);
}

VerbsAnswer VerbsNode::begin_probes(TimePs now, const ProbeEvs& wanted, std::span<const std::byte> tail) {
  if (!host_->offers_probes())
    return refused(EOPNOTSUPP, "a light endpoint has no probes for software; allowed: fidelity = \"detailed\"");
  ProbeBatch batch{.count = wanted.count, .unsent = {}, .answered = {}};
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    ProbeBatch::Unsent probe{.order = i, .what = {}};
    std::memcpy(static_cast<void*>(&probe.what), tail.data() + i * sizeof probe.what, sizeof probe.what);
    if (!may_probe(probe.what)) return {.error = EINVAL};
    batch.unsent.push_back(probe);
  }
  const std::uint64_t number = next_batch_++;
  batches_[number] = std::move(batch);
  send_probes(now);
  return {.value = number};
}

void VerbsNode::send_probes(TimePs now) {
  for (auto& [number, batch] : batches_) {
    std::erase_if(batch.unsent, [&](const ProbeBatch::Unsent& probe) {
      const ProbeOrder& what = probe.what;
      const auto plane = static_cast<std::uint8_t>(what.port);
      if (!host_->probe(now, next_probe_, what.node, what.value, plane)) return false;
      asked_[next_probe_] = {number, probe.order};
      if (++next_probe_ == 0) next_probe_ = 1;
      return true;
    });
  }
}

void VerbsNode::take_probe_answers() {
  for (const auto& came : host_->take_probe_answers()) {
    const auto asked = asked_.find(came.number);
    if (asked == asked_.end()) continue;
    const auto [number, order] = asked->second;
    asked_.erase(asked);
    const auto batch = batches_.find(number);
    if (batch == batches_.end()) continue;
    batch->second.answered.push_back(
        {came.at + notice_ps_, {.order = order, .port = came.plane, .round_trip_ns = came.round_trip_ps / kPsPerNs}});
  }
}

bool VerbsNode::probes_are_answered(TimePs now, std::uint64_t number) const {
  const auto it = batches_.find(number);
  if (it == batches_.end()) return true;
  const ProbeBatch& batch = it->second;
  return batch.answered.size() == batch.count && batch.answered.back().at <= now;
}

VerbsAnswer VerbsNode::end_probes(TimePs now, std::uint64_t number, std::vector<ProbeAnswer>& to) {
  const auto it = batches_.find(number);
  if (it == batches_.end()) return {.error = EINVAL};
  for (const ProbeBatch::Answered& answered : it->second.answered) {
    if (answered.at <= now) to.push_back(answered.answer);
  }
  const bool whole = to.size() == it->second.count;
  forget_probes(number);
  return {.error = whole ? 0 : ETIMEDOUT, .count = static_cast<std::uint32_t>(to.size())};
}

void VerbsNode::forget_probes(std::uint64_t number) {
  batches_.erase(number);
  std::erase_if(asked_, [number](const auto& asked) { return asked.second.batch == number; });
}

}  // namespace mrc
