#include "nic/tx/qp_scheduler_rtl_path.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/pins_engine.h"
#include "engine/rtl_error.h"

namespace mrc {
namespace {

// Of the data sheet: from an activation to its turn, and how long a lookup that begins a fetch occupies the block.
constexpr std::uint64_t kListCycles = 2;
constexpr std::uint64_t kFetchOccupies = 3;
// From the acceptance of a context that has come to its QP's place on the list.
constexpr std::uint32_t kFillToList = 2;

std::string_view to_string(ContextLookup lookup) {
  constexpr std::array<std::string_view, 4> names{"here", "loading", "fetched", "no_room"};
  return names[static_cast<std::size_t>(lookup)];
}

/// First field in which the answers differ, empty without one.
std::string difference(const ContextReply& expected, const ContextReply& rtl) {
  if (expected.qp != rtl.qp) return fmt::format("qp: expected {}, RTL gave {}", expected.qp, rtl.qp);
  if (expected.lookup != rtl.lookup) {
    return fmt::format("lookup: expected {}, RTL gave {}", to_string(expected.lookup), to_string(rtl.lookup));
  }
  if (expected.slot != rtl.slot) return fmt::format("slot: expected {}, RTL gave {}", expected.slot, rtl.slot);
  if (expected.evicted != rtl.evicted) {
    const auto text = [](const std::optional<std::uint32_t>& qp) { return qp ? std::to_string(*qp) : "none"; };
    return fmt::format("evicted_qp: expected {}, RTL gave {}", text(expected.evicted), text(rtl.evicted));
  }
  if (expected.quantum_bytes != rtl.quantum_bytes) {
    return fmt::format("quantum_bytes: expected {}, RTL gave {}", expected.quantum_bytes, rtl.quantum_bytes);
  }
  return {};
}

}  // namespace

ContextReply QpSchedulerRtlPath::judge(const char* what, const ContextReply& expected, const ContextReply& reply,
                                       std::uint64_t cycle) {
  const std::string found = difference(expected, reply);
  if (!found.empty()) {
    mismatch(
        node_, cycle, [&] { return fmt::format("transaction {} ({} of QP {})", transactions(), what, expected.qp); },
        found);
  }
  return drives() && reply.qp < sizes_.qps ? reply : expected;
}

void QpSchedulerRtlPath::activate(std::uint32_t qp) {
  if (asks()) engine_->activate(qp);
}

ContextReply QpSchedulerRtlPath::turn(const ContextReply& expected, bool room, std::uint64_t cycle) {
  if (!asks()) return expected;
  const ContextReply reply = engine_->turn(room);
  const std::uint64_t occupied = reply.lookup == ContextLookup::fetched ? kFetchOccupies : 1;
  const bool granted = reply.lookup == ContextLookup::here;
  count({occupied, granted ? kListCycles + reply.latency_cycles : 0},
        {box_.initiation_interval_cycles, granted ? box_.latency_cycles : 0});
  return judge("turn", expected, reply, cycle);
}

void QpSchedulerRtlPath::give_back(std::uint32_t qp, std::uint32_t slot, bool again) {
  if (asks()) engine_->give_back(qp, slot, again);
}

ContextReply QpSchedulerRtlPath::look(const ContextReply& expected, bool room, std::uint64_t cycle) {
  if (!asks()) return expected;
  const ContextReply reply = engine_->look(expected.qp, room);
  // The box has no cycles for them.
  count({reply.lookup == ContextLookup::fetched ? kFetchOccupies : 1, reply.latency_cycles}, {});
  return judge("lookup", expected, reply, cycle);
}

void QpSchedulerRtlPath::fill(std::uint32_t qp, bool list, bool used) {
  if (asks()) engine_->fill(qp, list, used);
}

void QpSchedulerRtlPath::drop(std::uint32_t qp) {
  if (asks()) engine_->drop(qp);
}

// ---- By pins

void QpSchedulerRtlPath::clock_with(ReadyList& list, ContextSlots& slots, const PinsSettings& settings,
                                    QpSchedulerPinsClient& client) {
  list_ = &list;
  slots_ = &slots;
  settings_ = settings;
  client_ = &client;
  kept_.assign(sizes_.qps, 0);
  late_.assign(sizes_.qps, 0);
}

void QpSchedulerRtlPath::offer_activation(std::uint32_t qp, TimePs at, StartId because) {
  activations_.insert({at, qp, because});
}

void QpSchedulerRtlPath::offer_return(const GrantReturn& back, TimePs now, StartId because) {
  returns_.push_back({back, now, because});
}

void QpSchedulerRtlPath::offer_fill(const ContextFill& fill, TimePs done_at, StartId because) {
  inputs_.filled = fill;
  filled_at_ = done_at;
  filled_by_ = because;
}

bool QpSchedulerRtlPath::is_idle(TimePs now, bool run) const {
  const bool offers = inputs_.activated || inputs_.filled || !returns_.empty() || !lookups_.empty() ||
                      !drops_.empty() || next_activation() <= now;
  const bool holds = !turns_.empty() || !grants_.empty() || !seen_.empty() || !fetches_.empty() || !listings_.empty();
  return !offers && !holds && (list_->empty() || !run);
}

void QpSchedulerRtlPath::offer(TimePs now) {
  if (!inputs_.activated && next_activation() <= now) {
    activation_ = *activations_.begin();
    activations_.erase(activations_.begin());
    inputs_.activated = activation_.qp;
  }
  if (!returns_.empty()) inputs_.returned = returns_.front().back;
  if (!lookups_.empty()) inputs_.looked_up = lookups_.front().first;
  if (!drops_.empty()) inputs_.dropped = drops_.front();
}

/// A pause that the block makes between turns is seen at no ready: it goes on while nobody waits for one.
void QpSchedulerRtlPath::catch_up(std::uint64_t cycle) {
  constexpr std::uint64_t most_cycles = 256;
  const std::uint64_t missed = std::min(cycle - std::min(cycle, next_cycle_), most_cycles);
  for (std::uint64_t i = 0; i < missed; ++i) {
    const QpSchedulerOutputs outputs = engine_->clock({});
    if (outputs.turn || outputs.grant || outputs.seen || outputs.fetch) {
      throw RtlError("qp_scheduler RTL gives what it has not taken");
    }
    watch(outputs);
    compare_state(outputs, cycle - missed + i);
  }
  next_cycle_ = cycle + 1;
}

void QpSchedulerRtlPath::clock(TimePs now, std::uint64_t cycle, bool run) {
  catch_up(cycle);
  offer(now);
  inputs_.run = run;
  inputs_.takes_fetch = fetches_.empty() ? client_->can_fetch() : client_->can_fetch_now(fetches_.front().expected.qp);
  const QpSchedulerOutputs outputs = engine_->clock(inputs_);
  note_cycle(outputs);
  watch(outputs);
  take_answers(now, cycle, outputs);
  if (is_over()) return;
  // What is taken now, a turn or a lookup, sees it in the next cycle.
  inputs_.read_room = has_room(outputs.pick);
  std::optional<std::uint32_t> picked;
  if (outputs.pick && !list_->empty()) picked = list_->pick().qp;
  change_list(now, outputs);
  change_contexts(now, cycle, outputs);
  if (outputs.pick) begin_turn(cycle, picked);
  compare_state(outputs, cycle);
  listed_before_ = outputs.listed > 0;
  ran_before_ = run;
}

void QpSchedulerRtlPath::note_cycle(const QpSchedulerOutputs& outputs) {
  const bool offers = inputs_.activated || inputs_.returned || inputs_.looked_up || inputs_.filled || inputs_.dropped;
  occupied_ = offers || outputs.pick || (outputs.listed > 0 && inputs_.run);
  if (occupied_) count_occupied();
}

bool QpSchedulerRtlPath::moves(const QpSchedulerOutputs& outputs) {
  return outputs.activated || outputs.returned || outputs.looked_up || outputs.filled || outputs.dropped ||
         outputs.pick || outputs.turn || outputs.grant || outputs.seen || outputs.fetch;
}

void QpSchedulerRtlPath::watch(const QpSchedulerOutputs& outputs) {
  const bool moved = moves(outputs);
  quiet_cycles_ = moved || !listings_.empty() ? 0 : quiet_cycles_ + 1;
  unmoved_cycles_ = moved || list_->empty() ? 0 : unmoved_cycles_ + 1;
  if (quiet_cycles_ > kMostQuietPinCycles || unmoved_cycles_ > kMostQuietPinCycles) {
    throw RtlError(fmt::format("qp_scheduler RTL has not taken or given anything for {} cycles", kMostQuietPinCycles));
  }
}

void QpSchedulerRtlPath::compare_state(const QpSchedulerOutputs& outputs, std::uint64_t cycle) {
  constexpr std::uint64_t settled_after = 8;
  if (quiet_cycles_ != settled_after) return;
  const auto compare = [&](const char* field, std::uint64_t expected, std::uint64_t actual) {
    if (expected == actual) return;
    mismatch(
        node_, cycle, [&] { return fmt::format("after transaction {}", transactions()); },
        fmt::format("{}: expected {}, RTL gave {}", field, expected, actual));
  };
  compare("listed", list_->size(), outputs.listed);
  if (fetches_.empty()) compare("held", slots_->held(), outputs.held);
}

void QpSchedulerRtlPath::take_answers(TimePs now, std::uint64_t cycle, const QpSchedulerOutputs& outputs) {
  // Behind a difference, what comes out has nothing to be compared with.
  if (outputs.turn) take_turn(now, cycle, *outputs.turn);
  if (outputs.grant && !is_over()) take_grant(now, cycle, *outputs.grant);
  if (outputs.fetch && inputs_.takes_fetch && !is_over()) take_fetch(now, cycle, *outputs.fetch);
  if (outputs.seen && !is_over()) take_seen(now, cycle, *outputs.seen);
}

void QpSchedulerRtlPath::take_turn(TimePs now, std::uint64_t cycle, const ContextReply& reply) {
  if (turns_.empty()) throw RtlError("qp_scheduler RTL ends a turn that it has not begun");
  Turn turn = turns_.front();
  turns_.pop_front();
  ContextReply expected = turn.expected;
  expected.slot = 0;
  expected.evicted.reset();
  expected.quantum_bytes = 0;
  judge("turn", expected, reply, cycle);
  if (expected.lookup == ContextLookup::here) {
    grants_.push_back(turn);
    return;
  }
  count({}, {box_.initiation_interval_cycles, 0});
  end_turn(expected.qp, expected.lookup == ContextLookup::no_room, now, 0);
  client_->turn_ended(turn.expected, now);
}

void QpSchedulerRtlPath::take_grant(TimePs now, std::uint64_t cycle, const ContextReply& reply) {
  if (grants_.empty()) throw RtlError("qp_scheduler RTL grants a turn that it has not begun");
  const Turn turn = grants_.front();
  grants_.pop_front();
  count({0, kListCycles + cycle - turn.begun}, {box_.initiation_interval_cycles, box_.latency_cycles});
  judge("grant", turn.expected, reply, cycle);
  client_->granted(turn.expected, turn.wait, now);
}

void QpSchedulerRtlPath::take_seen(TimePs now, std::uint64_t cycle, const ContextReply& reply) {
  if (seen_.empty()) throw RtlError("qp_scheduler RTL answers a lookup that it has not taken");
  const Lookup lookup = seen_.front();
  seen_.pop_front();
  count({0, cycle - lookup.begun}, {});
  ContextReply expected = lookup.expected;
  if (expected.lookup != ContextLookup::here) expected.slot = 0;
  expected.evicted.reset();
  judge("lookup", expected, reply, cycle);
  client_->was_seen(lookup.expected, now);
}

void QpSchedulerRtlPath::take_fetch(TimePs now, std::uint64_t cycle, const ContextReply& reply) {
  if (fetches_.empty()) throw RtlError("qp_scheduler RTL fetches a context that no lookup has missed");
  const Fetch fetch = fetches_.front();
  fetches_.pop_front();
  judge("fetch", fetch.expected, reply, cycle);
  client_->begin_fetch(fetch.expected, now, fetch.because);
  client_->room_came(now);
}

void QpSchedulerRtlPath::note_late(std::uint32_t qp, TimePs from, TimePs now) {
  // Made behind an edge and taken at the next one is in time.
  late_[qp] = static_cast<std::uint8_t>(now > from + 2 * settings_.period_ps);
}

void QpSchedulerRtlPath::change_list(TimePs now, const QpSchedulerOutputs& outputs) {
  for (Listing& listing : listings_) --listing.cycles;
  if (!listings_.empty() && listings_.front().cycles == 0) {
    const Listing listing = listings_.front();
    listings_.pop_front();
    if (list_->activate(listing.qp, now)) was_listed(listing.qp, now, listing.because);
  }
  if (outputs.returned) {
    const Return back = returns_.front();
    returns_.pop_front();
    inputs_.returned.reset();
    slots_->give_back(back.back.slot);
    note_late(back.back.qp, back.at, now);
    end_turn(back.back.qp, back.back.again, now, back.because);
    client_->room_came(now);
  }
  if (outputs.activated) {
    const std::uint32_t qp = activation_.qp;
    inputs_.activated.reset();
    if (list_->activate(qp, now)) {
      note_late(qp, activation_.at, now);
      was_listed(qp, now, activation_.because);
    } else if (!list_->is_listed(qp)) {
      kept_[qp] = activation_.because;
    }
  }
}

void QpSchedulerRtlPath::end_turn(std::uint32_t qp, bool again, TimePs now, StartId because) {
  if (list_->end_turn(qp, again, now)) was_listed(qp, now, because != 0 ? because : kept_[qp]);
}

void QpSchedulerRtlPath::was_listed(std::uint32_t qp, TimePs now, StartId because) {
  kept_[qp] = because;
  client_->was_listed(qp, now, because);
}

void QpSchedulerRtlPath::change_contexts(TimePs now, std::uint64_t cycle, const QpSchedulerOutputs& outputs) {
  if (slot_is_open_) {
    // Grants that came back up to this cycle have left their slots.
    slot_is_open_ = false;
    ContextReply& fetched = fetches_.back().expected;
    const ContextSlots::Fetch fetch = slots_->begin_fetch(fetched.qp);
    fetched.slot = fetch.slot;
    fetched.evicted = fetch.evicted;
  }
  if (outputs.filled) {
    const ContextFill fill = *inputs_.filled;
    inputs_.filled.reset();
    slots_->fill(fill.qp, fill.used);
    if (fill.list) listings_.push_back({fill.qp, kFillToList, filled_by_});
    client_->was_filled(fill.qp, now, filled_at_, filled_by_);
    client_->room_came(now);
  }
  if (outputs.dropped) {
    slots_->drop(drops_.front());
    drops_.pop_front();
    inputs_.dropped.reset();
    client_->room_came(now);
  }
  if (outputs.looked_up) {
    const auto [qp, because] = lookups_.front();
    lookups_.pop_front();
    inputs_.looked_up.reset();
    const ContextReply expected = look_up(qp, false, because);
    seen_.push_back({expected, cycle});
    // Its first use leaves the slot to others.
    if (expected.lookup == ContextLookup::here) client_->room_came(now);
  }
}

bool QpSchedulerRtlPath::has_room(bool turn) const {
  if (!client_->can_fetch() || !fetches_.empty()) return false;
  return !turn || slots_->held() < settings_.most_ahead;
}

ContextReply QpSchedulerRtlPath::look_up(std::uint32_t qp, bool turn, StartId because) {
  ContextReply reply;
  reply.qp = qp;
  reply.lookup = slots_->look(qp, turn, inputs_.read_room);
  if (reply.lookup == ContextLookup::here) {
    reply.slot = slots_->slot_of(qp);
    if (turn) reply.quantum_bytes = settings_.quantum_bytes;
  }
  if (reply.lookup == ContextLookup::fetched) {
    fetches_.push_back({reply, because});
    slot_is_open_ = true;
  }
  return reply;
}

void QpSchedulerRtlPath::begin_turn(std::uint64_t cycle, std::optional<std::uint32_t> qp) {
  if (!qp) throw RtlError("qp_scheduler RTL begins a turn while no QP is ready");
  turns_.push_back({look_up(*qp, true, kept_[*qp]), wait_of(*qp), cycle});
}

TurnWait QpSchedulerRtlPath::wait_of(std::uint32_t qp) {
  if (listed_before_ && !ran_before_) return TurnWait::room;
  const bool waited = listed_before_ || late_[qp] != 0;
  return waited ? TurnWait::rtl : TurnWait::nothing;
}

}  // namespace mrc
