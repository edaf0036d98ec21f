#include "nic/tx/idle_causes.h"

#include <algorithm>

#include "pcie/pcie_dma.h"

namespace mrc::timing {
namespace {

/// Held up by the box behind it, whose own row tells why.
bool is_downstream(BlockedBy cause) {
  switch (cause) {
    case BlockedBy::segmenter_queue:
    case BlockedBy::spray_scheduler:
    case BlockedBy::retransmit_queue:
    case BlockedBy::encap_queue:
    case BlockedBy::read_queue:
    case BlockedBy::segmented_queue:
      return true;
    default:
      return false;
  }
}

/// Has nothing to take although others wait for room before it.
bool is_starving(const IssueSlot& slot, TimePs now) {
  return !slot.is_blocked() && !slot.is_busy(now);
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
  TimePs down = 0;
  for (std::size_t port = 0; port < busy_until_.size(); ++port) {
    const TimePs from = std::max(busy_until_[port], last_);
    if (from < now) ((nic_.ports_up >> port & 1U) != 0 ? idle : down) += now - from;
  }
  idle_ps_[static_cast<std::size_t>(BlockedBy::link_down)] += down;
  if (idle > 0) idle_ps_[static_cast<std::size_t>(cause(now))] += idle;
  last_ = now;
}

BlockedBy IdleCauses::cause_in_pcie(TimePs now) const {
  const IssueSlot& reads = *slots_.read_issue;
  if (reads.is_blocked()) return reads.blocked_by();
  // The link is the cause where answers queue for it; where one is just passing, too few reads are under way.
  constexpr TimePs queueing = 100 * kPsPerNs;
  const TimePs line_free_at = nic_.pcie->read_line().free_at();
  if (line_free_at > now + queueing) return nic_.pcie->answers_wait_for();
  const IssueSlot& fetch = *slots_.payload_fetch;
  if (fetch.is_blocked() && !is_downstream(fetch.blocked_by())) return fetch.blocked_by();
  // Stepped TLP by TLP the line holds no more than one completion, so that what others wait for is asked first.
  if (line_free_at > now || nic_.pcie->answers_wait_for() != BlockedBy::pcie_line) return nic_.pcie->answers_wait_for();
  return BlockedBy::read_latency;
}

BlockedBy IdleCauses::cause_behind_spray(TimePs now) const {
  const IssueSlot& buffer = *slots_.retransmit_buffer;
  if (slots_.srv6_encap->is_stalled()) return slots_.srv6_encap->stalled_by();
  if (buffer.is_stalled()) return buffer.stalled_by();
  if (!buffer.is_blocked()) return BlockedBy::retransmit_queue;
  return is_starving(*slots_.srv6_encap, now) ? BlockedBy::encap_queue : BlockedBy::srv6_encap;
}

BlockedBy IdleCauses::cause(TimePs now) const {
  const IssueSlot& spray = *slots_.spray_scheduler;
  // A burst that passes through it is no fault of the datapath; one that it holds up back to the sprayer is.
  if (spray.is_blocked() && spray.blocked_by() == BlockedBy::retransmit_queue) return cause_behind_spray(now);
  if (spray.is_blocked() && !is_downstream(spray.blocked_by())) return spray.blocked_by();
  const IssueSlot& segmenter = *slots_.segmenter;
  const IssueSlot& scheduler = *slots_.qp_scheduler;
  // While the segmenter is held up by what follows it, the reads are the bottleneck; while it has nothing, they only
  // drain.
  const bool fed = segmenter.is_blocked() || slots_.payload_fetch->is_blocked();
  // All that it holds is on its way through: the queue is shorter than the pipeline in front of it.
  if (segmenter.is_blocked() && is_starving(*slots_.payload_fetch, now)) return BlockedBy::segmented_queue;
  if (fed) return cause_in_pcie(now);
  if (segmenter.is_busy(now)) return segmenter.is_stalled() ? segmenter.stalled_by() : BlockedBy::segmenter;
  if (scheduler.is_blocked() && !is_downstream(scheduler.blocked_by())) {
    // WQEs are waited for one by one where the host may not say that there are more.
    const bool few_doorbells = nic_.doorbells_full && scheduler.blocked_by() == BlockedBy::wqe_fetch;
    return few_doorbells ? BlockedBy::doorbell_queue : scheduler.blocked_by();
  }
  if (nic_.reads_under_way > 0) return cause_in_pcie(now);
  if (!nic_.tx_work.active()) return BlockedBy::no_work;
  if (!nic_.host_has_more) return BlockedBy::acknowledgement;
  return nic_.doorbells_full ? BlockedBy::doorbell_queue : BlockedBy::outstanding_messages;
}

}  // namespace mrc::timing
