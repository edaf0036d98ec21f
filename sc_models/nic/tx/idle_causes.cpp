#include "nic/tx/idle_causes.h"

#include <algorithm>

namespace mrc::timing {
namespace {

/// Held up by the box behind it, whose own row tells why.
bool is_downstream(BlockedBy cause) {
  switch (cause) {
    case BlockedBy::segmenter_queue:
    case BlockedBy::spray_queue:
    case BlockedBy::retransmit_queue:
    case BlockedBy::encap_queue:
    case BlockedBy::read_queue:
    case BlockedBy::segmented_queue:
      return true;
    default:
      return false;
  }
}

}  // namespace

void IdleCauses::start(TimePs now) {
  if (started_) return;
  started_ = true;
  last_ = now;
  for (TimePs& until : busy_until_) until = std::max(until, now);
  look_for_quiet();
}

void IdleCauses::finish(TimePs now) {
  before_change(now);
  finished_ = true;
}

void IdleCauses::look_for_quiet() {
  quiet_until_ = *std::min_element(busy_until_.begin(), busy_until_.end());
}

void IdleCauses::port_busy(TimePs now, std::uint32_t port, TimePs until) {
  before_change(now);
  busy_until_[port] = until;
  look_for_quiet();
}

void IdleCauses::before_change(TimePs now) {
  if (!started_ || finished_ || now <= last_) return;
  TimePs idle = 0;
  for (const TimePs until : busy_until_) {
    const TimePs from = std::max(until, last_);
    if (from < now) idle += now - from;
  }
  if (idle > 0) idle_ps_[static_cast<std::size_t>(cause(now))] += idle;
  last_ = now;
}

BlockedBy IdleCauses::cause_in_pcie(TimePs now) const {
  const IssueSlot& reads = *slots_.read_issue;
  if (reads.is_blocked()) return reads.blocked_by();
  // The link is the cause where answers queue for it; where one is just passing, too few reads are under way.
  constexpr TimePs queueing = 100 * kPsPerNs;
  if (nic_.read_line->free_at() > now + queueing) return BlockedBy::pcie_line;
  const IssueSlot& fetch = *slots_.payload_fetch;
  if (fetch.is_blocked() && !is_downstream(fetch.blocked_by())) return fetch.blocked_by();
  if (nic_.read_line->free_at() > now) return BlockedBy::pcie_line;
  return BlockedBy::read_latency;
}

BlockedBy IdleCauses::cause(TimePs now) const {
  const IssueSlot& spray = *slots_.spray_scheduler;
  // A burst that passes through it is no fault of the datapath; one that it holds up back to the sprayer is.
  if (spray.is_blocked() && spray.blocked_by() == BlockedBy::retransmit_queue) return BlockedBy::srv6_encap;
  if (spray.is_blocked() && !is_downstream(spray.blocked_by())) return spray.blocked_by();
  const IssueSlot& segmenter = *slots_.segmenter;
  const IssueSlot& scheduler = *slots_.qp_scheduler;
  // While the segmenter is held up by what follows it, the reads are the bottleneck; while it has nothing, they only
  // drain.
  const bool fed = segmenter.is_blocked() || slots_.payload_fetch->is_blocked();
  if (fed) return cause_in_pcie(now);
  if (segmenter.is_busy(now)) return BlockedBy::segmenter;
  if (scheduler.is_blocked() && !is_downstream(scheduler.blocked_by())) return scheduler.blocked_by();
  if (nic_.reads_under_way > 0) return cause_in_pcie(now);
  if (!nic_.tx_work.active()) return BlockedBy::no_work;
  return nic_.host_has_more ? BlockedBy::outstanding_messages : BlockedBy::acknowledgement;
}

}  // namespace mrc::timing
