#include "nic/tx/qp_scheduler.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/context_address.h"
#include "nic/tx/qp_scheduler_rtl_path.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/wqe_fetch.h"
#include "nic/window_causes.h"

namespace mrc::timing {
namespace {

constexpr std::uint32_t kGrantQueue = 4;
constexpr std::uint32_t kWqeRequestQueue = 16;

/// Contexts of QPs that wait for their turn are read while others have theirs. Until a QP's turn, contexts may be read
/// for a packet of each QP in front of it as well, for its answer, and for received packets. With the share that is the
/// default, a context is still here when its turn comes and its packets are sent (chosen by runs with few contexts).
/// With RTL it is in use until its turn, which may wait for packets that wait for a slot.
std::uint32_t most_ahead(const QpSchedulerConfig& config) {
  return std::max(static_cast<std::uint32_t>(config.context_cache_entries * config.read_ahead_share), 1U);
}

}  // namespace

QpScheduler::QpScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                         RetransmitBuffer& retransmit_buffer, QpSchedulerRtlPath* rtl)
    : Box(name, owner, {.name = "qp_scheduler", .part = NicPart::transmit, .behind = "doorbell"}),
      slot(*this, nic.tx_work),
      nic_(nic),
      context_memory_(nic.memories[kContextCache]),
      wqe_memory_(nic.memories[WqeFetch::kPrefetch]),
      pcie_(pcie),
      retransmit_buffer_(retransmit_buffer),
      rtl_(rtl),
      lists_(nic.scenario.traffic.classes.count, ReadyList(nic.qps.size())),
      cache_(cache_of(nic)),
      most_ahead_(most_ahead(nic.config.nic.qp_scheduler)),
      ready_qps_(*this, "qp_scheduler.ready", "QPs", std::max<std::size_t>(nic.qps.size(), 1)),
      contexts_(*this, "qp_scheduler.context_cache", "contexts", nic.config.nic.qp_scheduler.context_cache_entries),
      write_back_(cache_.can_evict() ? std::make_unique<ContextWriteBack>(*this, nic, pcie, context_memory_) : nullptr),
      grants_(*this, "qp_scheduler.grants", kGrantQueue),
      wqe_requests_(*this, "wqe_fetch.requests", kWqeRequestQueue),
      wqes_(*this, "wqe_fetch.prefetch", "WQEs",
            std::max<std::size_t>(nic.qps.size(), 1) * nic.config.nic.wqe_fetch.prefetch_depth),
      turns_(nic.scenario.traffic.classes, nic.config.nic.qp_scheduler.quantum_bytes),
      preempts_(nic.scenario.traffic.classes.strict()),
      limits_(nic.scenario.traffic.tenants),
      grants_full_(nic.causes.declare_full("qp_scheduler.grants", grants_.taker())),
      context_miss_(nic.causes.declare("qp_scheduler.context_miss", {"nic.qp_scheduler.context_cache_entries"})),
      no_wqe_(nic.causes.declare("wqe_fetch", {"nic.wqe_fetch.prefetch_depth", "nic.wqe_fetch.batch"})),
      mpr_(nic.causes.declare("mpr", {"protocol.mpr_units"})),
      write_imm_limit_(nic.causes.declare("write_imm_limit", {"protocol.max_write_imm"})),
      doorbells_full_(nic.causes.declare("doorbell.queue")),
      starts_(nic.trace, server_cause(nic, "qp_scheduler")) {
  for (std::size_t cut = 0; cut < kCutCauses; ++cut) {
    const auto cause = static_cast<CutCause>(cut);
    window_[cut] = nic.causes.declare(window_cause(cause), window_relief(cause));
  }
  if (turns_.on() && !turns_.strict())
    class_share_ = nic.causes.declare("qp_scheduler.class_share", {"traffic.classes.weights"});
  if (limits_.any()) rate_limit_ = nic.causes.declare("tenant.rate_limit", {"traffic.tenants.rate_limits_gbps"});
  const NicConfig& config = nic.config.nic;
  const auto held = std::min<std::size_t>(
      {nic.qps.size(), config.qp_scheduler.contexts_at_start, config.qp_scheduler.context_cache_entries});
  if (rtl_ != nullptr) {
    if (nic.qps.size() > rtl_->sizes().qps) {
      throw std::invalid_argument(fmt::format("RTL of qp_scheduler is built for {} QPs; the scenario has {}",
                                              rtl_->sizes().qps, nic.qps.size()));
    }
    slots_.emplace(static_cast<std::uint32_t>(nic.qps.size()), config.qp_scheduler.context_cache_entries);
    slot_of_turn_.resize(nic.qps.size());
  }
  hold_at_start(held);
  if (by_pins()) {
    rtl_->clock_with(lists_[0], *slots_,
                     {.quantum_bytes = config.qp_scheduler.quantum_bytes,
                      .period_ps = nic.clock.period_ps(),
                      .most_ahead = evicts_contexts() ? most_ahead_ : config.qp_scheduler.context_cache_entries},
                     *this);
  }
  declare(pipeline_server(nic, "qp_scheduler", "qp_scheduler", config.qp_scheduler.pipeline));
  declare(DeclaredTokens{.cause = context_miss_,
                         .capacity = config.qp_scheduler.context_cache_entries,
                         .unit = "contexts",
                         .taken_by = "qp_scheduler",
                         .returned_by = "qp_scheduler",
                         .way = TokenWay::pcie_read});
  declare(DeclaredTokens{.cause = no_wqe_,
                         .capacity = wqes_.capacity(),
                         .unit = "WQEs",
                         .taken_by = "wqe_fetch",
                         .returned_by = "segmenter",
                         .way = TokenWay::pcie_read});
  declare(DeclaredTokens{.cause = window_.front(),
                         .capacity = nic.scenario.cc.max_cwnd_bytes,
                         .unit = "bytes",
                         .taken_by = "segmenter",
                         .returned_by = "sack_processor",
                         .way = TokenWay::network});
  declare(DeclaredTokens{.cause = mpr_,
                         .capacity = std::uint64_t{nic.scenario.protocol.mpr_units} * kMprUnitPsns,
                         .unit = "PSNs",
                         .taken_by = "segmenter",
                         .returned_by = "sack_processor",
                         .way = TokenWay::network});
  declare(DeclaredTokens{.cause = write_imm_limit_,
                         .capacity = nic.scenario.protocol.max_write_imm,
                         .unit = "messages",
                         .taken_by = "segmenter",
                         .returned_by = "sack_processor",
                         .way = TokenWay::network});
  nic.memories.count(kReadyList, ready_qps_);
  nic.memories.count(kGrants, grants_.occupancy());
  nic.memories.count(kWqeRequests, wqe_requests_.occupancy());
}

ContextCache QpScheduler::cache_of(const NicContext& nic) {
  ContextCache cache(static_cast<std::uint32_t>(nic.qps.size()), nic.config.nic.qp_scheduler.context_cache_entries);
  std::vector<std::uint32_t> most = tenant_contexts(nic.scenario.traffic.tenants, "scenario");
  if (most.empty()) return cache;
  std::vector<std::uint8_t> tenants;
  for (const Qp& qp : nic.qps) tenants.push_back(qp.tenant);
  cache.limit(std::move(most), std::move(tenants));
  return cache;
}

void QpScheduler::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const QpSchedulerConfig& config = nic.node.nic.qp_scheduler;
  const MemoryConfig& cache = nic.node.nic.memory.qp_context;
  const std::uint64_t contexts = config.context_cache_entries;
  out.add(kReadyList, {.depth = nic.scale.qps}, {kQpField});
  out.add(kContextCache, contexts, cache, {{"QP context", config.context_bytes * 8ULL}});
  out.add_beside(kContextCache, "qp_scheduler.context_tags", {.depth = contexts, .banks = cache.banks},
                 {kQpField, {"LRU links", 2 * bits_for(contexts)}, {"valid, loading", 2}});
  if (nic.scale.qps > contexts) {
    out.add(ContextWriteBack::kBuffer, {.depth = config.write_back_entries},
            {kQpField, {"QP context", config.context_bytes * 8ULL}});
  }
  out.add(kGrants, {.depth = kGrantQueue}, {kQpField, {"quantum", 30}});
  out.add(kWqeRequests, {.depth = kWqeRequestQueue}, {kQpField, {"WQEs", 7}});
}

void QpScheduler::declare_latency(LatencyAccount& account) {
  // It sees the doorbell, asks for the WQE unless that has come too, and one cycle later the request is there.
  account.pass_box(account.nic().doorbell.carries_wqe ? 0 : 1);
  account.add_boxes("qp_scheduler", "nic.doorbell, nic.core_clock_ghz");
  // With the WQE it grants the segmenter.
  account.pass_box(account.nic().qp_scheduler.pipeline.latency_cycles);
}

Cause QpScheduler::cause_of(SendGate gate, CutCause cut) const {
  if (gate == SendGate::blocked_mpr) return mpr_;
  return gate == SendGate::blocked_write_imm ? write_imm_limit_ : window_[static_cast<std::size_t>(cut)];
}

void QpScheduler::hold_wqes(TimePs now, Qp& qp, std::int32_t more) {
  qp.wqes_held += static_cast<std::uint32_t>(more);
  if (more > 0) wqes_.add(now, static_cast<std::uint32_t>(more));
  if (more < 0) wqes_.remove(now, static_cast<std::uint32_t>(-more));
}

void QpScheduler::activate(std::uint32_t index, TimePs at, StartId because) {
  if (by_pins()) {
    rtl_->offer_activation(index, at, because);
    wake_at(at);
    return;
  }
  if (rtl_ != nullptr) rtl_->activate(index);
  if (list_of(index).activate(index, at)) listed(index, at, because);
}

void QpScheduler::listed(std::uint32_t index, TimePs at, StartId because) {
  Qp& qp = nic_.qps[index];
  qp.starts.activated = because;
  wake_at(std::max(at, next_start_));
  if (preempts_ && qp.traffic_class > 0 && segmenter_ != nullptr) segmenter_->wake_at(at);
}

std::uint64_t QpScheduler::qps_listed() const {
  std::uint64_t qps = 0;
  for (const ReadyList& list : lists_) qps += list.size();
  return qps;
}

TimePs QpScheduler::next_service(TimePs now) const {
  TimePs next = kNever;
  for (const ReadyList& list : lists_) {
    if (!list.empty()) next = std::min(next, std::max(next_start_, list.front().from));
  }
  // What is ready now and was not picked waits for the share of a class that is granted: grant_done() wakes.
  if (next <= now) {
    next = kNever;
    for (const ReadyList& list : lists_) {
      if (!list.empty() && list.front().from > now) next = std::min(next, list.front().from);
    }
  }
  if (limits_.any() && limits_.next() != kNever)
    next = std::min(next, std::max({next_start_, limits_.next(), now + 1}));
  return next;
}

void QpScheduler::end_holds(TimePs now) {
  limits_.due(now, [&](std::uint32_t index) { list_of(index).end_turn(index, true, now); });
}

std::uint32_t QpScheduler::pick(TimePs now) {
  const std::uint32_t due = due_classes(now);
  if (!turns_.on()) return due != 0 ? 0 : ClassTurns::kNone;
  const std::uint32_t next = turns_.pick(credit_, due | granted_classes(), due);
  if (next == ClassTurns::kNone && due != 0) slot.blocked(now, class_share_);
  return next;
}

bool QpScheduler::is_held(TimePs now, Qp& qp) {
  const TimePs free_at = limits_.free_at(qp.tenant);
  if (free_at <= now) return false;
  limits_.wait(qp.tenant, nic_.index_of(qp));
  qp.starts.parked = rate_limit_;
  slot.blocked(now, rate_limit_);
  wake_at(free_at);
  return true;
}

void QpScheduler::end_turn(TimePs now, std::uint32_t index, bool again, StartId because) {
  if (by_pins()) {
    rtl_->offer_return({.qp = index, .slot = slot_of_turn_[index], .again = again}, now, because);
    wake_at(now);
    return;
  }
  if (slots_) {
    if (rtl_ != nullptr) rtl_->give_back(index, slot_of_turn_[index], again);
    slots_->give_back(slot_of_turn_[index]);
    slot_is_free(now);
  }
  if (list_of(index).end_turn(index, again, now)) listed(index, now, because);
}

void QpScheduler::grant_done(std::uint32_t index, TimePs now, StartId because, std::uint32_t unused_bytes) {
  const Qp& qp = nic_.qps[index];
  --granted_[qp.traffic_class];
  turns_.charge(credit_, qp.traffic_class, -std::int64_t{unused_bytes});
  limits_.give_back(qp.tenant, unused_bytes);
  context_memory_.write(now, index);
  end_turn(now, index, true, because);
}

void QpScheduler::window_opened(CongestionDomain& domain, TimePs now, StartId because) {
  for (const std::uint32_t index : domain.waiting) {
    nic_.qps[index].waits_for_window = false;
    activate(index, now, because);
  }
  domain.waiting.clear();
}

void QpScheduler::read_done(std::uint64_t cookie, TimePs now, TimePs done_at) {
  const ContextThatCame context{done_at, static_cast<std::uint32_t>(cookie), pcie_.done_by()};
  if (by_pins()) {
    pcie_.release_completion_buffer(now, nic_.config.nic.qp_scheduler.context_bytes);
    context_memory_.write(now, context.qp);
    came_.insert(context);
    wake_at(std::max(now, done_at));
    return;
  }
  if (read_.empty() && has_room_for_evicted()) {
    take_context(now, context);
  } else {
    read_.push_back(context);
  }
}

bool QpScheduler::has_room_for_evicted() const {
  // In a slot, the one before has left when the fetch began.
  return !evicts_contexts() || slots_ || write_back_->has_room();
}

void QpScheduler::take_contexts(TimePs now) {
  while (!read_.empty() && has_room_for_evicted()) {
    ContextThatCame context = read_.front();
    read_.pop_front();
    context.at = std::max(now, context.at);
    take_context(now, context);
  }
}

void QpScheduler::take_context(TimePs now, const ContextThatCame& context) {
  const std::uint32_t index = context.qp;
  pcie_.release_completion_buffer(now, nic_.config.nic.qp_scheduler.context_bytes);
  context_memory_.write(now, index);
  // What was waited for has been used, even if another context has taken its place when it is served.
  bool waited_for = false;
  for (ContextClient* client : clients_) {
    waited_for = client->context_here(index, now, context.at, context.because) || waited_for;
  }
  const bool sends = nic_.qps[index].sender != nullptr;
  // In a slot it is kept until its first use, if there will be one.
  const std::optional<std::uint32_t> evicted = insert_context(index, sends, waited_for || (slots_ && !sends));
  if (evicted) write_back_->add(now, *evicted);
  contexts_.set(now, contexts_held());
  if (slots_) slot_is_free(now);
  if (sends && list_of(index).activate(index, context.at)) listed(index, context.at, context.because);
}

void QpScheduler::write_contexts(TimePs now) {
  if (!write_back_->step(now)) return;
  take_contexts(now);
  slot_is_free(now);
}

bool QpScheduler::is_waited_for(std::uint32_t index) const {
  return std::ranges::any_of(clients_, [&](const ContextClient* client) { return client->waits_for_context(index); });
}

std::optional<std::uint32_t> QpScheduler::insert_context(std::uint32_t index, bool list, bool used) {
  if (slots_) {
    if (rtl_ != nullptr) rtl_->fill(index, list, used);
    slots_->fill(index, used);
    return std::nullopt;
  }
  const std::optional<std::uint32_t> evicted = cache_.insert(index);
  if (used) cache_.used(index);
  return evicted;
}

void QpScheduler::hold_at_start(std::size_t contexts) {
  for (std::uint32_t index = 0; index < contexts; ++index) {
    if (slots_) {
      look(index, false, true);
      insert_context(index, false, true);
    } else {
      cache_.insert(index);
    }
  }
  if (contexts > 0) contexts_.set(0, contexts);
}

bool QpScheduler::can_fetch(std::uint32_t index, bool turn) const {
  if (!pcie_.can_read()) return false;
  if (!evicts_contexts()) return true;
  if (write_back_->holds(index) || (slots_ && !write_back_->has_room())) return false;
  return !turn || (slots_ ? slots_->held() : cache_.ahead()) < most_ahead_;
}

ContextReply QpScheduler::look(std::uint32_t index, bool turn, bool room) {
  ContextReply reply;
  reply.qp = index;
  if (turn) reply.quantum_bytes = nic_.config.nic.qp_scheduler.quantum_bytes;
  if (!slots_) {
    if (cache_.touch(index)) return reply;
    reply.lookup = cache_.loading(index) ? ContextLookup::loading
                   : room                ? ContextLookup::fetched
                                         : ContextLookup::no_room;
    if (reply.lookup == ContextLookup::fetched) cache_.begin_load(index, turn);
    return reply;
  }
  reply.lookup = slots_->look(index, turn, room);
  if (reply.lookup == ContextLookup::here) reply.slot = slots_->slot_of(index);
  if (reply.lookup == ContextLookup::fetched) {
    const ContextSlots::Fetch fetch = slots_->begin_fetch(index);
    reply.slot = fetch.slot;
    reply.evicted = fetch.evicted;
  }
  if (reply.lookup != ContextLookup::here) reply.quantum_bytes = 0;
  return reply;
}

ContextReply QpScheduler::begin_turn(TimePs now, std::uint32_t traffic_class) {
  const std::uint32_t picked = lists_[traffic_class].pick().qp;
  const bool room = can_fetch(picked, true);
  ContextReply turn = look(picked, true, room);
  if (rtl_ != nullptr) turn = rtl_->turn(turn, room, nic_.clock.edge_index(now));
  if (turn.lookup == ContextLookup::here) {
    if (slots_) slot_of_turn_[turn.qp] = turn.slot;
    return turn;
  }
  // Its turn is over; it is listed again at once only where its context could not be read yet.
  const bool again = turn.lookup == ContextLookup::no_room;
  const StartId activated = nic_.qps[turn.qp].starts.activated;
  if (list_of(turn.qp).end_turn(turn.qp, again, now)) listed(turn.qp, now, activated);
  if (again && !pcie_.can_read()) pcie_.wait_read_room(now, *this);
  if (turn.lookup == ContextLookup::fetched) fetch(now, turn, activated);
  return turn;
}

bool QpScheduler::has_context(TimePs now, std::uint32_t index, Box& box, StartId because) {
  if (!evicts_contexts() && !slots_ && cache_.resident(index)) return true;
  const bool room = can_fetch(index, false);
  ContextReply reply = look(index, false, room);
  if (rtl_ != nullptr) reply = rtl_->look(reply, room, nic_.clock.edge_index(now));
  if (reply.lookup == ContextLookup::no_room) wait_for_room(now, box);
  if (reply.lookup == ContextLookup::fetched) fetch(now, reply, because);
  if (reply.lookup == ContextLookup::here && slots_) slot_is_free(now);
  return reply.lookup == ContextLookup::here;
}

void QpScheduler::wait_for_room(TimePs now, Box& box) {
  if (!pcie_.can_read()) {
    pcie_.wait_read_room(now, box);
  } else if (std::find(wait_for_slot_.begin(), wait_for_slot_.end(), &box) == wait_for_slot_.end()) {
    wait_for_slot_.push_back(&box);
  }
}

void QpScheduler::slot_is_free(TimePs now) {
  for (Box* box : wait_for_slot_) box->wake_at(now);
  wait_for_slot_.clear();
}

void QpScheduler::fetch(TimePs now, const ContextReply& fetched, StartId because) {
  if (fetched.evicted) write_back_->add(now, *fetched.evicted);
  read_context(now, fetched.qp, because);
}

void QpScheduler::read_context(TimePs now, std::uint32_t index, StartId because) {
  if (slots_) contexts_.set(now, contexts_held());
  ++nic_.box_counters.contexts_read;
  pcie_.read(now, context_address(nic_, index), nic_.config.nic.qp_scheduler.context_bytes, *this, index, false,
             nullptr, because);
}

void QpScheduler::context_failed(TimePs now, std::uint32_t index) {
  nic_.memory_failed(now, context_memory_,
                     fmt::format("context of QP {} is re-read over PCIe", nic_.qps[index].number));
  if (by_pins()) {
    rtl_->offer_drop(index);
    wake_at(now);
    return;
  }
  if (slots_) {
    if (rtl_ != nullptr) rtl_->drop(index);
    slots_->drop(index);
    slot_is_free(now);
  } else {
    cache_.invalidate(index);
  }
  contexts_.set(now, contexts_held());
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
  const std::uint64_t known = qp.send_queue.waiting() - qp.doorbells_under_way;
  const bool wanted = known > 0 && qp.wqes_in_fetch == 0 && qp.wqes_held < config.prefetch_depth;
  if (!wanted) return;
  auto room = std::min(config.batch, config.prefetch_depth - qp.wqes_held);
  if (nic_.host_port != nullptr) room = std::min(room, nic_.host_port->wqes_in_a_row(nic_.index_of(qp)));
  qp.wqes_in_fetch = static_cast<std::uint32_t>(std::min<std::uint64_t>(room, known));
  qp.wqes_left = known > room;
  qp.starts.wqes_wanted = qp.starts.activated;
  wqe_requests_.push(now, nic_.index_of(qp), now + nic_.clock.period_ps());
}

void QpScheduler::park_idle(TimePs now, Qp& qp) {
  if (qp.wqes_in_fetch == 0) {
    slot.empty(now);
    return;
  }
  if (nic_.doorbells_full) {
    // WQEs are waited for one by one where the host may not say that there are more.
    qp.starts.parked = doorbells_full_;
  } else if (qp.wqes_left) {
    qp.starts.parked = no_wqe_;
  } else if (nic_.host_has_more) {
    // The fetch brings all that the host may post: its time is a part of the way round of the host's tokens.
    slot.empty(now);
    return;
  }
  slot.blocked(now, no_wqe_);
}

void QpScheduler::park(TimePs now, Qp& qp, SendGate gate) {
  if (gate == SendGate::blocked_cwnd && !qp.waits_for_window) {
    qp.waits_for_window = true;
    qp.congestion->waiting.push_back(nic_.index_of(qp));
  }
  if (gate == SendGate::idle || gate == SendGate::in_error) {
    park_idle(now, qp);
    return;
  }
  qp.starts.parked = cause_of(gate, qp.congestion->control->last_cut());
  slot.blocked(now, qp.starts.parked);
}

bool QpScheduler::may_be_granted(TimePs now, Qp& qp) {
  const std::uint32_t index = nic_.index_of(qp);
  const MemoryAccess context = context_memory_.read(now, index);
  slot.stalled(now, context.delay_ps, context_memory_.cause());
  next_start_ += context.delay_ps;
  if (context.failed()) {
    context_failed(now, index);
    end_turn(now, index, true, qp.starts.activated);
    slot.blocked(now, context_miss_);
    return false;
  }
  want_wqes(now, qp);
  const NextPacket next = qp.sender->next(now);
  if (next.gate != SendGate::ready) {
    end_turn(now, index, false, 0);
    park(now, qp, next.gate);
    return false;
  }
  if (!next.retransmission && !retransmit_buffer_.has_entry(now)) {
    end_turn(now, index, false, 0);
    retransmit_buffer_.wait_entry(now, index);
    qp.starts.parked = retransmit_buffer_.missing();
    slot.blocked(now, qp.starts.parked);
    return false;
  }
  if (!next.retransmission && !wqe_readable(now, qp)) {
    end_turn(now, index, false, 0);
    slot.blocked(now, no_wqe_);
    return false;
  }
  return !limits_.any() || !is_held(now, qp);
}

bool QpScheduler::serve(TimePs now, std::uint32_t traffic_class) {
  if (grants_.full()) {
    grants_.wait_room(now, *this);
    slot.blocked(now, grants_full_);
    return false;
  }
  constexpr std::uint32_t most_requests = 2;
  if (!wqe_requests_.has_room_for(most_requests)) {
    // Whoever is served may need WQEs, and is not looked at again without them.
    wqe_requests_.wait_room(now, *this);
    slot.blocked(now, no_wqe_);
    return false;
  }
  const TimePs listed_from = lists_[traffic_class].front().from;
  const PipelineConfig& pipeline = nic_.config.nic.qp_scheduler.pipeline;
  next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
  const ContextReply turn = begin_turn(now, traffic_class);
  const std::uint32_t index = turn.qp;
  Qp& qp = nic_.qps[index];
  if (turn.lookup != ContextLookup::here) {
    qp.starts.parked = context_miss_;
    slot.blocked(now, context_miss_);
    return true;
  }
  if (!may_be_granted(now, qp)) return true;
  ++granted_[qp.traffic_class];
  turns_.charge(credit_, qp.traffic_class, turn.quantum_bytes);
  limits_.charge(now, qp.tenant, turn.quantum_bytes);
  const StartId start = trace_grant(now, qp, listed_from);
  slot.busy(now, next_start_);
  grants_.push(now, {index, turn.quantum_bytes, start},
               next_start_ - nic_.clock.cycles(pipeline.initiation_interval_cycles) +
                   nic_.clock.cycles(pipeline.latency_cycles));
  return true;
}

StartId QpScheduler::trace_grant(TimePs now, Qp& qp, TimePs listed_from) {
  const Cause parked = std::exchange(qp.starts.parked, {});
  if (!starts_.on()) return 0;
  const bool grants_were_full = slot.is_blocked() && slot.blocked_by() == grants_full_;
  const bool was_busy = slot.busy_until() > listed_from;
  if (!grants_were_full && !was_busy && !(parked == Cause())) {
    return starts_.start_after(now, qp.starts.activated, parked);
  }
  if (grants_were_full) return starts_.start_after(now, nic_.trace.gave(grants_full_), grants_full_);
  if (was_busy) return starts_.start_after(now, starts_.last(), servers().front().cause);
  return starts_.start_at_arrival(now, qp.starts.activated);
}

void QpScheduler::step(TimePs now) {
  if (evicts_contexts()) write_contexts(now);
  if (by_pins()) {
    step_by_pins(now);
    return;
  }
  if (limits_.any()) end_holds(now);
  ready_qps_.set(now, qps_listed());
  if (now >= next_start_) {
    const std::uint32_t next = pick(now);
    if (next != ClassTurns::kNone && !serve(now, next)) return;
  }
  const TimePs next = next_service(now);
  if (next != kNever) wake_at(next);
}

}  // namespace mrc::timing
