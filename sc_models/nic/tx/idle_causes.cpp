#include "nic/tx/idle_causes.h"

#include <algorithm>

#include "nic/tx/payload_fetch.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/segmenter.h"
#include "nic/tx/spray_scheduler.h"

namespace mrc::timing {
namespace {

/// Has nothing to take although others wait for room before it.
bool is_starving(const IssueSlot& slot, TimePs now) {
  return !slot.is_blocked() && !slot.is_busy(now);
}

/// What a box that is the slowest of all makes others wait for.
Cause server_of(const Box& box) {
  return box.servers().empty() ? Cause() : box.servers().front().cause;
}

}  // namespace

IdleCauses::IdleCauses(NicContext& nic, PcieDma& pcie, std::uint32_t ports)
    : nic_(nic),
      pcie_(pcie),
      records_port_(nic.memories[RetransmitBuffer::kRecords].cause()),
      link_down_(nic.causes.declare("port.link_down", {"nic.port.up_detect_us"})),
      doorbell_queue_(nic.causes.declare("doorbell.queue", {"nic.doorbell.queue_entries"})),
      outstanding_messages_(nic.causes.declare("host.outstanding_messages", {"traffic.outstanding_messages"})),
      acknowledgement_(nic.causes.declare("acknowledgement")),
      no_work_(nic.causes.declare("no_work")),
      busy_until_(ports, 0) {}

void IdleCauses::connect(const QpScheduler& first, const Segmenter& segmenter, const PayloadFetch& payload_fetch,
                         const SprayScheduler& spray_scheduler, std::span<Box* const> boxes) {
  qp_scheduler_ = &first.slot;
  segmenter_ = &segmenter.slot;
  payload_fetch_ = &payload_fetch.slot;
  spray_scheduler_ = &spray_scheduler.slot;
  segmenter_slow_ = server_of(segmenter);
  segmenter_queue_ = segmenter.out_full();
  waits_for_wqe_ = first.waits_for_wqe();
  bool on_the_way = false;
  bool behind_spray = false;
  for (Box* box : boxes) {
    if (box->place().part != NicPart::transmit) continue;
    on_the_way = on_the_way || box == &first;
    if (!on_the_way) continue;
    for (IssueSlot* slot : box->slots()) slot->observe(*this);
    if (behind_spray) behind_spray_.push_back({box->slots().front(), nic_.causes.in_front_of(*box), server_of(*box)});
    behind_spray = behind_spray || box == &spray_scheduler;
  }
  pcie_.observe(*this);
  nic_.tx_work.observe(*this);
}

void IdleCauses::start(TimePs now) {
  if (started_) return;
  started_ = true;
  last_ = now;
  for (TimePs& until : busy_until_) until = std::max(until, now);
  look_for_quiet();
}

void IdleCauses::note_completion(TimePs now) {
  before_change(now);
  down_at_completion_ps_ = idle_ps_[link_down_.index()];
}

void IdleCauses::finish(TimePs now) {
  before_change(now);
  finished_ = true;
}

void IdleCauses::look_for_quiet() {
  quiet_until_ = *std::min_element(busy_until_.begin(), busy_until_.end());
}

void IdleCauses::port_busy(TimePs now, std::uint32_t port, TimePs until, bool new_data) {
  before_change(now);
  if (new_data) answers_awaited_ps_ = 0;
  busy_until_[port] = until;
  look_for_quiet();
}

void IdleCauses::retransmits(TimePs now, std::uint8_t loss_cause) {
  before_change(now);
  if (finished_) return;
  idle_ps_[acknowledgement_.index()] -= answers_awaited_ps_;
  retransmission_ps_[loss_cause] += answers_awaited_ps_;
  answers_awaited_ps_ = 0;
}

void IdleCauses::before_change(TimePs now) {
  if (!started_ || finished_ || now <= last_) return;
  TimePs idle = 0;
  TimePs down = 0;
  for (std::size_t port = 0; port < busy_until_.size(); ++port) {
    const TimePs from = std::max(busy_until_[port], last_);
    if (from < now) ((nic_.ports_up >> port & 1U) != 0 ? idle : down) += now - from;
  }
  idle_ps_[link_down_.index()] += down;
  if (idle > 0) {
    const Cause waits_for = cause(now);
    idle_ps_[waits_for.index()] += idle;
    if (waits_for == acknowledgement_) answers_awaited_ps_ += idle;
  }
  last_ = now;
}

Cause IdleCauses::cause_in_pcie(TimePs now) const {
  const IssueSlot& reads = pcie_.read_issue_slot();
  if (reads.is_blocked()) return reads.blocked_by();
  // The link is the cause where answers queue for it; where one is just passing, too few reads are under way.
  constexpr TimePs queueing = 100 * kPsPerNs;
  const TimePs line_free_at = pcie_.read_line().free_at();
  if (line_free_at > now + queueing) return pcie_.answers_wait_for();
  if (is_blocked_by_itself(*payload_fetch_)) return payload_fetch_->blocked_by();
  // Stepped TLP by TLP the line holds no more than one completion, so that what others wait for is asked first.
  if (line_free_at > now || pcie_.answers_wait_for() != pcie_.line()) return pcie_.answers_wait_for();
  return pcie_.read_latency();
}

Cause IdleCauses::cause_behind_spray(TimePs now) const {
  for (auto box = behind_spray_.rbegin(); box != behind_spray_.rend(); ++box) {
    if (box->slot->is_stalled()) return box->slot->stalled_by();
  }
  // A SACK that has the records for itself holds packets up for some cycles; the boxes behind show whether it matters.
  for (const Behind& box : behind_spray_) {
    if (is_blocked_by_itself(*box.slot) && box.slot->blocked_by() != records_port_) return box.slot->blocked_by();
    if (!box.slot->is_blocked()) return is_starving(*box.slot, now) ? box.queue : box.server;
  }
  return behind_spray_.back().slot->blocked_by();
}

Cause IdleCauses::cause(TimePs now) const {
  // A burst that passes is not due to the datapath; one that is blocked back to spray_scheduler is.
  if (is_blocked_by_itself(*spray_scheduler_)) return spray_scheduler_->blocked_by();
  if (spray_scheduler_->is_blocked()) return cause_behind_spray(now);
  // While the segmenter is held up by what follows it, the reads are the bottleneck; while it has nothing, they only
  // drain.
  const bool fed = segmenter_->is_blocked() || payload_fetch_->is_blocked();
  // All that it holds is on its way through: the queue is shorter than the pipeline in front of it.
  if (segmenter_->is_blocked() && is_starving(*payload_fetch_, now)) return segmenter_queue_;
  if (fed) return cause_in_pcie(now);
  if (segmenter_->is_busy(now)) return segmenter_->is_stalled() ? segmenter_->stalled_by() : segmenter_slow_;
  if (is_blocked_by_itself(*qp_scheduler_)) {
    // WQEs are waited for one by one where the host may not say that there are more.
    const bool few_doorbells = nic_.doorbells_full && qp_scheduler_->blocked_by() == waits_for_wqe_;
    return few_doorbells ? doorbell_queue_ : qp_scheduler_->blocked_by();
  }
  if (nic_.reads_under_way > 0) return cause_in_pcie(now);
  if (!nic_.tx_work.active()) return no_work_;
  if (!nic_.host_has_more) return acknowledgement_;
  return nic_.doorbells_full ? doorbell_queue_ : outstanding_messages_;
}

}  // namespace mrc::timing
