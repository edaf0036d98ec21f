#include "nic/tx/qp_scheduler.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/wqe_fetch.h"

namespace mrc::timing {
namespace {

constexpr std::uint32_t kGrantQueue = 4;
constexpr std::uint32_t kWqeRequestQueue = 16;

/// Waiting for the window is charged to what last made it small.
BlockedBy cause_of_window(CutCause cut) {
  switch (cut) {
    case CutCause::none:
    case CutCause::quick_adapt:
      return BlockedBy::cwnd;
    case CutCause::ecn:
      return BlockedBy::cwnd_ecn;
    case CutCause::trim:
      return BlockedBy::cwnd_trim;
    case CutCause::loss:
      return BlockedBy::cwnd_loss;
    case CutCause::penalty:
      return BlockedBy::cwnd_penalty;
    case CutCause::no_pkt_buffer:
      return BlockedBy::cwnd_no_pkt_buffer;
    case CutCause::no_bitmap:
      return BlockedBy::cwnd_no_bitmap;
    case CutCause::no_resource:
      return BlockedBy::cwnd_no_resource;
    case CutCause::out_of_window:
      return BlockedBy::cwnd_out_of_window;
  }
  return BlockedBy::cwnd;
}

BlockedBy cause_of(SendGate gate, CutCause cut) {
  if (gate == SendGate::blocked_mpr) return BlockedBy::mpr;
  return gate == SendGate::blocked_write_imm ? BlockedBy::write_imm_limit : cause_of_window(cut);
}

}  // namespace

QpScheduler::QpScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                         RetransmitBuffer& retransmit_buffer)
    : Box(name, owner),
      slot("qp_scheduler", nic.tx_work),
      nic_(nic),
      context_memory_(nic.memories[kContextCache]),
      wqe_memory_(nic.memories[WqeFetch::kPrefetch]),
      pcie_(pcie),
      retransmit_buffer_(retransmit_buffer),
      grants_("qp_scheduler.grants", kGrantQueue),
      wqe_requests_("wqe_fetch.requests", kWqeRequestQueue),
      cache_(static_cast<std::uint32_t>(nic.qps.size()), nic.config.nic.qp_scheduler.context_cache_entries),
      contexts_("qp_scheduler.context_cache", "contexts", nic.config.nic.qp_scheduler.context_cache_entries),
      wqes_("wqe_fetch.prefetch", "WQEs",
            std::max<std::size_t>(nic.qps.size(), 1) * nic.config.nic.wqe_fetch.prefetch_depth),
      ready_qps_("qp_scheduler.ready", "QPs", std::max<std::size_t>(nic.qps.size(), 1)),
      ready_(std::bit_ceil(nic.qps.size() + 1)) {
  nic.memories.count(kReadyList, ready_qps_);
  nic.memories.count(kGrants, grants_.occupancy());
  nic.memories.count(kWqeRequests, wqe_requests_.occupancy());
}

void QpScheduler::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const QpSchedulerConfig& config = nic.node.nic.qp_scheduler;
  const MemoryConfig& cache = nic.node.nic.memory.qp_context;
  const std::uint64_t contexts = config.context_cache_entries;
  out.add(kReadyList, {.depth = nic.scale.qps}, {kQpField});
  out.add(kContextCache, contexts, cache, {{"QP context", config.context_bytes * 8ULL}});
  out.add_beside(kContextCache, "qp_scheduler.context_tags", {.depth = contexts, .banks = cache.banks},
                 {kQpField, {"LRU links", 2 * bits_for(contexts)}, {"valid, loading", 2}});
  out.add(kGrants, {.depth = kGrantQueue}, {kQpField, {"quantum", 30}});
  out.add(kWqeRequests, {.depth = kWqeRequestQueue}, {kQpField, {"WQEs", 7}});
}

void QpScheduler::declare_latency(LatencyAccount& account) {
  // It sees the doorbell, asks for the WQE, and one cycle later the request is there.
  account.pass_box(1);
  account.add_boxes("qp_scheduler", "nic.doorbell, nic.core_clock_ghz");
  // With the WQE it grants the segmenter.
  account.pass_box(account.nic().qp_scheduler.pipeline.latency_cycles);
}

void QpScheduler::hold_wqes(TimePs now, Qp& qp, std::int32_t more) {
  qp.wqes_held += static_cast<std::uint32_t>(more);
  if (more > 0) wqes_.add(now, static_cast<std::uint32_t>(more));
  if (more < 0) wqes_.remove(now, static_cast<std::uint32_t>(-more));
}

void QpScheduler::activate(std::uint32_t index, TimePs at) {
  Qp& qp = nic_.qps[index];
  if (qp.listed || qp.granted) return;
  qp.listed = true;
  ready_[tail_++ & (ready_.size() - 1)] = {at, index};
  wake_at(std::max(at, next_start_));
}

QpScheduler::Ready QpScheduler::pop_ready() {
  return ready_[head_++ & (ready_.size() - 1)];
}

void QpScheduler::grant_done(std::uint32_t index, TimePs now) {
  nic_.qps[index].granted = false;
  context_memory_.write(now, index);
  activate(index, now);
}

void QpScheduler::window_opened(CongestionDomain& domain, TimePs now) {
  for (const std::uint32_t index : domain.waiting) {
    nic_.qps[index].waits_for_window = false;
    activate(index, now);
  }
  domain.waiting.clear();
}

void QpScheduler::read_done(std::uint64_t cookie, TimePs now, TimePs done_at) {
  const auto index = static_cast<std::uint32_t>(cookie);
  pcie_.release_completion_buffer(now, nic_.config.nic.qp_scheduler.context_bytes);
  cache_.insert(index);
  context_memory_.write(now, index);
  contexts_.set(now, cache_.resident());
  activate(index, done_at);
}

bool QpScheduler::context_at_hand(TimePs now, std::uint32_t index) {
  if (cache_.touch(index)) return true;
  if (cache_.loading(index)) return false;
  if (!pcie_.can_read()) {
    activate(index, now);
    pcie_.wait_read_room(now, *this);
    return false;
  }
  cache_.begin_load(index);
  const QpSchedulerConfig& config = nic_.config.nic.qp_scheduler;
  const std::uint64_t address =
      nic_.host_port != nullptr ? nic_.host_port->context_address(index) : std::uint64_t{index} * config.context_bytes;
  pcie_.read(now, address, config.context_bytes, *this, index, false);
  return false;
}

void QpScheduler::context_failed(TimePs now, std::uint32_t index) {
  nic_.memory_failed(now, context_memory_,
                     fmt::format("context of QP {} is re-read over PCIe", nic_.qps[index].number));
  cache_.invalidate(index);
  contexts_.set(now, cache_.resident());
}

bool QpScheduler::wqe_readable(TimePs now, Qp& qp) {
  if (qp.wqe_in_reread) return false;
  const std::uint32_t index = nic_.index_of(qp);
  const MemoryAccess access = wqe_memory_.read(now, index);
  slot.stalled(now, access.delay_ps, wqe_memory_.cause());
  next_start_ += access.delay_ps;
  if (!access.failed()) return true;
  nic_.memory_failed(now, wqe_memory_, fmt::format("WQE of QP {} is re-read over PCIe", qp.number));
  qp.wqe_in_reread = true;
  wqe_requests_.push(now, index | kRereadWqe, now + nic_.clock.period_ps());
  return false;
}

void QpScheduler::want_wqes(TimePs now, Qp& qp) {
  const WqeFetchConfig& config = nic_.config.nic.wqe_fetch;
  const bool wanted = qp.send_queue.waiting() > 0 && qp.wqes_in_fetch == 0 && qp.wqes_held < config.prefetch_depth;
  if (!wanted) return;
  auto room = std::min(config.batch, config.prefetch_depth - qp.wqes_held);
  if (nic_.host_port != nullptr) room = std::min(room, nic_.host_port->wqes_in_a_row(nic_.index_of(qp)));
  qp.wqes_in_fetch = static_cast<std::uint32_t>(std::min<std::uint64_t>(room, qp.send_queue.waiting()));
  wqe_requests_.push(now, nic_.index_of(qp), now + nic_.clock.period_ps());
}

void QpScheduler::park(TimePs now, Qp& qp, SendGate gate) {
  if (gate == SendGate::blocked_cwnd && !qp.waits_for_window) {
    qp.waits_for_window = true;
    qp.congestion->waiting.push_back(nic_.index_of(qp));
  }
  if (gate == SendGate::idle || gate == SendGate::in_error) {
    if (qp.wqes_in_fetch > 0) {
      slot.blocked(now, BlockedBy::wqe_fetch);
    } else {
      slot.empty(now);
    }
    return;
  }
  slot.blocked(now, cause_of(gate, qp.congestion->control->last_cut()));
}

bool QpScheduler::serve(TimePs now) {
  if (grants_.full()) {
    grants_.wait_room(now, *this);
    slot.blocked(now, BlockedBy::segmenter_queue);
    return false;
  }
  constexpr std::uint32_t most_requests = 2;
  if (!wqe_requests_.has_room_for(most_requests)) {
    // Whoever is served may need WQEs, and is not looked at again without them.
    wqe_requests_.wait_room(now, *this);
    slot.blocked(now, BlockedBy::wqe_fetch);
    return false;
  }
  const std::uint32_t index = pop_ready().qp;
  Qp& qp = nic_.qps[index];
  qp.listed = false;
  const PipelineConfig& pipeline = nic_.config.nic.qp_scheduler.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  if (!context_at_hand(now, index)) {
    slot.blocked(now, BlockedBy::context_miss);
    return true;
  }
  const MemoryAccess context = context_memory_.read(now, index);
  slot.stalled(now, context.delay_ps, context_memory_.cause());
  next_start_ += context.delay_ps;
  if (context.failed()) {
    context_failed(now, index);
    activate(index, now);
    slot.blocked(now, BlockedBy::context_miss);
    return true;
  }
  want_wqes(now, qp);
  const SendGate gate = qp.requestor->gate(now);
  if (gate != SendGate::ready) {
    park(now, qp, gate);
    return true;
  }
  if (!qp.requestor->next_is_retransmission() && !retransmit_buffer_.has_entry(now)) {
    retransmit_buffer_.wait_entry(now, index);
    slot.blocked(now, retransmit_buffer_.missing());
    return true;
  }
  if (!qp.requestor->next_is_retransmission() && !wqe_readable(now, qp)) {
    slot.blocked(now, BlockedBy::wqe_fetch);
    return true;
  }
  qp.granted = true;
  slot.busy(now, next_start_);
  grants_.push(now, {index, nic_.config.nic.qp_scheduler.quantum_bytes},
               next_start_ - nic_.clock.cycles(pipeline.initiation_interval_cycles) +
                   nic_.clock.cycles(pipeline.latency_cycles));
  return true;
}

void QpScheduler::step(TimePs now) {
  ready_qps_.set(now, tail_ - head_);
  if (head_ != tail_ && now >= next_start_ && ready_[head_ & (ready_.size() - 1)].from <= now) {
    if (!serve(now)) return;
  }
  if (head_ != tail_) wake_at(std::max(next_start_, ready_[head_ & (ready_.size() - 1)].from));
}

}  // namespace mrc::timing
