#include "nic/control/completion.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "pcie/pcie_latency.h"

namespace mrc::timing {
namespace {

/// Completion queues lie in host memory above the QP contexts; only alignment matters to the bus.
constexpr std::uint64_t kCompletionQueueAddress = 0x4000'0000;

/// One per interval of the latency, and one that waits to leave.
std::uint64_t writes_in(const PipelineConfig& pipeline) {
  return 1 + pipeline.latency_cycles / std::max(pipeline.initiation_interval_cycles, 1U);
}

}  // namespace

Completion::Completion(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie)
    : Box(name, owner, {.name = "completion", .part = NicPart::control, .behind = "sack_processor"}),
      slot(*this, nic.tx_work),
      nic_(nic),
      queue_memory_(nic.memories[kQueue]),
      pcie_(pcie),
      in_(*this, "completion.queue", nic.config.nic.completion.queue_entries),
      cq_full_(nic.causes.declare("completion.cq_entries", {"nic.completion.cq_entries"})),
      moderation_(nic.causes.declare("completion.moderation",
                                     {"nic.completion.moderation_us", "nic.completion.moderation_count"})),
      starts_(nic.trace, server_cause(nic, "completion"), nic.causes.declare("completion.queue")),
      moderation_ps_(static_cast<TimePs>(nic.config.nic.completion.moderation_us * kPsPerUs)),
      most_writes_(writes_in(nic.config.nic.completion.pipeline)) {
  in_.connect(this);
  declare(pipeline_server(nic, "completion", "completion", nic.config.nic.completion.pipeline));
  declare(DeclaredTokens{.cause = cq_full_,
                         .capacity = nic.config.nic.completion.cq_entries,
                         .unit = "entries",
                         .taken_by = "completion",
                         .returned_by = "host",
                         .way = TokenWay::software});
  gathered_.reserve(nic.config.nic.completion.moderation_count);
}

void Completion::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const CompletionConfig& config = nic.node.nic.completion;
  out.add(kQueue, config.queue_entries, nic.node.nic.memory.completion_queue,
          {kQpField, {"WQE id", 64}, kImmediateField, {"kind, status", 4}});
  if (config.moderation_count > 1) {
    out.add_uncounted("completion.moderation", {.depth = config.moderation_count},
                      {{"CQE", config.cqe_bytes * 8ULL}, {"deadline", 32}});
  }
}

void Completion::declare_latency(LatencyAccount& account) {
  account.add_boxes("receive_boxes", "nic.*.latency_cycles, nic.core_clock_ghz");
  // Data and the CQE behind it, then the way of the last to memory.
  const double bytes = account.bytes() + account.nic().completion.cqe_bytes;
  account.add("posted_write", pcie_two_writes_ns(account.node(), bytes),
              LatencyAccount::plausible("pcie.write_latency_ns"), "assumption", "pcie.write_latency_ns, data and CQE");
}

void Completion::take(TimePs now) {
  const MemoryAccess entry = queue_memory_.read(now, 0);
  delay_ = std::max(delay_, entry.delay_ps);
  if (gathered_.empty()) gathered_since_ = now;
  gathered_.push_back(in_.pop(now));
  if (!entry.failed()) return;
  nic_.memory_failed(
      now, queue_memory_,
      fmt::format("CQE of QP {} is rebuilt from the QP context in host memory", nic_.qps[gathered_.back().qp].number));
  rebuild_wanted_ = true;
}

bool Completion::gather(TimePs now) {
  while (gathered_.size() < nic_.config.nic.completion.moderation_count && in_.ready(now) && !rebuild_wanted_) {
    if (!host_queue_->has_room_for(static_cast<std::uint32_t>(entries_.size() + gathered_.size()) + 1)) return false;
    take(now);
  }
  return true;
}

void Completion::begin_rebuild(TimePs now) {
  if (!pcie_.can_read()) {
    pcie_.wait_read_room(now, *this);
    return;
  }
  rebuild_wanted_ = false;
  rebuilding_ = true;
  const std::uint32_t bytes = nic_.config.nic.qp_scheduler.context_bytes;
  const std::uint32_t qp = gathered_.back().qp;
  const std::uint64_t address =
      nic_.host_port == nullptr ? std::uint64_t{qp} * bytes : nic_.host_port->context_address(qp);
  pcie_.read(now, address, bytes, *this, 0, false);
}

void Completion::read_done(std::uint64_t, TimePs now, TimePs done_at) {
  pcie_.release_completion_buffer(now, nic_.config.nic.qp_scheduler.context_bytes);
  rebuilding_ = false;
  next_start_ = std::max(next_start_, done_at);
  wake_at(next_start_);
}

void Completion::start_write(TimePs now) {
  const PipelineConfig& pipeline = nic_.config.nic.completion.pipeline;
  slot.stalled(now, delay_, queue_memory_.cause());
  const TimePs issued_at = now + delay_;
  delay_ = 0;
  const auto entries = static_cast<std::uint32_t>(gathered_.size());
  ++nic_.box_counters.cqe_writes;
  nic_.box_counters.cqes += entries;
  // The oldest has waited for the others; otherwise the last one is what brought the write about.
  const bool moderated = slot.is_blocked() && slot.blocked_by() == moderation_;
  StartId because = (moderated ? gathered_.front() : gathered_.back()).because;
  if (moderated) {
    starts_.start_held(now, slot, because, gathered_since_, moderation_);
  } else {
    starts_.start(now, slot, because, now);
  }
  for (Cqe& cqe : gathered_) {
    cqe.because = because;
    entries_.push(cqe);
  }
  gathered_.clear();
  writes_.push({entries, issued_at + nic_.clock.cycles(pipeline.latency_cycles)});
  next_start_ = issued_at + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  slot.busy(now, next_start_);
}

void Completion::hand_over(TimePs now) {
  while (!writes_.empty() && !leaving_) {
    const TimePs at = std::max(writes_.front().out_at, last_left_);
    if (now < at) {
      wake_at(at);
      return;
    }
    leaving_ = true;
    HostPort* port = nic_.host_port;
    const std::uint64_t address = port == nullptr ? kCompletionQueueAddress : port->cqe_address();
    const std::uint32_t bytes = writes_.front().entries * nic_.config.nic.completion.cqe_bytes;
    pcie_.write(now, now, address, bytes, *this, 0, WriteOrder::strict);
  }
}

void Completion::step(TimePs now) {
  hand_over(now);
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (writes_.size() >= most_writes_) {
    slot.blocked(now, pcie_.write_limit());  // write_left() comes back here
    return;
  }
  const bool cq_full = !rebuilding_ && !rebuild_wanted_ && !gather(now);
  if (rebuild_wanted_) begin_rebuild(now);
  if (rebuild_wanted_ || rebuilding_) {
    slot.blocked(now, pcie_.read_latency());
    return;
  }
  if (gathered_.empty()) {
    if (cq_full) {
      slot.blocked(now, cq_full_);
      host_queue_->wait_room(now, *this);
    } else {
      slot.empty(now);
      in_.wait_ready(now);
    }
    return;
  }
  const bool enough = cq_full || gathered_.size() >= nic_.config.nic.completion.moderation_count;
  if (!enough && now < gathered_since_ + moderation_ps_) {
    slot.blocked(now, moderation_);
    wake_at(gathered_since_ + moderation_ps_);
    in_.wait_ready(now);
    return;
  }
  start_write(now);
  hand_over(now);
  in_.wait_ready(next_start_);
}

void Completion::write_left(std::uint64_t, TimePs now, TimePs last_end) {
  leaving_ = false;
  last_left_ = last_end;
  const TimePs visible = pcie_.visible_at(last_end);
  const auto poll = nic_.host_port != nullptr ? 0 : static_cast<TimePs>(nic_.config.host.poll_ns * 1000.0);
  for (std::uint32_t left = writes_.front().entries; left > 0; --left) {
    const Cqe& cqe = entries_.front();
    if (nic_.host_port != nullptr) nic_.host_port->complete(visible, cqe);
    // Behind a host port this queue holds what its software has not taken yet, so that a full one stops the NIC.
    host_queue_->push(now, cqe, visible + poll);
    entries_.pop();
  }
  writes_.pop();
  wake_at(std::max(now, last_end));
}

}  // namespace mrc::timing
