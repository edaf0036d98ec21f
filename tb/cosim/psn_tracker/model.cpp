#include "cosim/psn_tracker/model.h"

#include <algorithm>
#include <array>

namespace mrc::cosim {
namespace {

using psn_tracker_ports::Req;
using psn_tracker_ports::Rsp;

constexpr auto kSetup = static_cast<std::uint64_t>(PsnOp::setup);
constexpr auto kSack = static_cast<std::uint64_t>(PsnOp::sack);
constexpr auto kRelease = static_cast<std::uint64_t>(PsnOp::release);
constexpr auto kLoad = static_cast<std::uint64_t>(PsnOp::load);
constexpr auto kStore = static_cast<std::uint64_t>(PsnOp::store);

const std::vector<std::string> kKinds{"data", "trimmed", "trimmed at last hop"};
const std::vector<std::string> kOutcomes{"accept", "duplicate below", "duplicate above", "out of window", "no bitmap"};

std::size_t level(std::uint64_t value) {
  return value < 3 ? value : 3;
}

}  // namespace

PsnTrackerModel::PsnTrackerModel(const PsnTrackerSizes& sizes, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), sizes_(sizes) {
  points_.outcome = coverage.cross("kind × outcome", kKinds, kOutcomes);
  points_.nack = coverage.point("NACK", {"TRIMMED", "TRIMMED_LASTHOP", "NO_BITMAP", "NO_PKT_BUFFER", "NO_RESOURCE",
                                         "PSN_OOR_WINDOW", "UNEXP_EVENT, not allowed", "UNEXP_EVENT, no receive"});
  points_.walk =
      coverage.point("banks that the edge leaves with one packet", {"0", "1", "2", "3 or more", "all of the window"});
  points_.base = coverage.cross("SACK base × trigger", {"above the edge", "the packet itself", "newest PSN fits"},
                                {"plain", "CE or AckReq", "probe"});
  coverage.waive(points_.base, 3, "only a marked packet is its own base");
  coverage.waive(points_.base, 5, "a probe has no PSN of its own");
  points_.span = coverage.point("banks that a SACK's bits lie in", {"none", "1", "2", "1, and no bank behind it"});
  points_.pool = coverage.point("pool", {"empty", "in between", "full"});
  points_.psn = coverage.point("edge", {"passes PSN 0", "elsewhere"});
  points_.back_to_back =
      coverage.point("slot of the request before", {"the same", "another", "another, and this one before that"});
  points_.closes = coverage.point("messages that one packet closes", {"0", "1", "2", "3 or more"});
  points_.grant = coverage.point("MPR that a SACK grants", {"the window", "less"});
  points_.release = coverage.point("banks that a release gives back", {"0", "1", "2", "3 or more"});
  points_.moved =
      coverage.cross("context is × banks that it holds", {"stored", "loaded"}, {"0", "1", "2", "3 or more"});
  points_.window_end = coverage.point(
      "PSN", {"last of the window", "first outside", "half a circle away", "inside a window over PSN 0", "elsewhere"});
  points_.refused = coverage.point("outside the window", {"NACK", "dropped", "inside a window without shortening"});
  points_.last_bank = coverage.point("a packet takes", {"the last bank of the pool", "the last that a QP can have"});
  points_.stop = coverage.point("edge stops where a bank ends", {"nothing behind", "hole behind"});
}

void PsnTrackerModel::begin(KeyedRandom& random, const Dut& dut) {
  context_words_ = dut.ports[Req::kPort].fields.size() - Req::kContext;
  pool_.emplace(sizes_.banks);
  windows_.assign(sizes_.slots, std::nullopt);
  leaving_.clear();
  outside_.clear();
  config_ = {};
  config_.mpr_units = sizes_.mpr_units;
  config_.out_of_window = random.chance(0.5) ? OutOfWindow::nack : OutOfWindow::drop;
  constexpr std::array<std::uint32_t, 4> few{1, 2, 8, 64};
  busy_slots_ = std::min(few[random.below(few.size())], sizes_.slots);
  slot_numbers_ = SpreadNumbers(sizes_.slots, KeyedRandom(KeyedRandom(random).next(), "slots"));
  habits_.assign(sizes_.slots, {});
  changes_ = 0;
  stays_ = 0.3;
  releases_ = 0;
  moves_ = 0;
  half_circle_ = 0;
  last_slot_ = slot_before_last_ = ~0ULL;
  pipeline_ = {};
  in_use_.clear();
  asked_.clear();
}

PsnTrackerModel::Habit PsnTrackerModel::draw_habit(KeyedRandom& random) {
  Habit habit;
  habit.in_order = std::array{0.002, 0.01, 0.03, 0.1, 0.6}[random.below(5)];
  habit.runs = std::array{0.0, 0.9, 0.995}[random.below(3)];
  habit.holes = std::array{0.0, 0.9}[random.below(2)];
  habit.fills = std::array{0.02, 0.3, 0.9}[random.below(3)];
  habit.ends = std::array{0.2, 0.5, 1.0}[random.below(3)];
  habit.sacks = std::array{0.0, 0.1, 0.4}[random.below(3)];
  habit.refusals = std::array{0.0, 0.02, 0.2}[random.below(3)];
  if (!random.chance(kLongRuns)) return habit;
  habit.in_order = 0.002;
  habit.runs = 0.998;
  habit.holes = 0.9;
  habit.further_holes = std::array{0.0, 0.03}[random.below(2)];
  habit.longest_run = std::array{1 << 23, 48, 112}[random.below(3)];
  habit.fills = 0.9;
  habit.refusals = 0.0;
  return habit;
}

void PsnTrackerModel::set_constants(const Dut& dut) const {
  dut.set_constant("nack_out_of_window", config_.out_of_window == OutOfWindow::nack ? 1 : 0);
  dut.set_constant("dynamic_mpr", config_.dynamic_mpr ? 1 : 0);
}

void PsnTrackerModel::reset(KeyedRandom& random, const Dut& dut) {
  begin(random, dut);
  config_.dynamic_mpr = random.chance(0.4);
  releases_ = std::array{0.0, 0.002, 0.03}[random.below(3)];
  moves_ = std::array{0.0, 0.01, 0.1}[random.below(3)];
  half_circle_ = 0.02;
  for (std::uint32_t i = 0; i < busy_slots_; ++i) habits_[slot_numbers_[i]] = draw_habit(random);
  changes_ = std::array{0.0, 0.003, 0.02}[random.below(3)];
  stays_ = std::array{0.3, 0.98}[random.below(2)];
  set_constants(dut);
}

void PsnTrackerModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                     const std::map<std::string, std::uint64_t>& settings) {
  begin(random, dut);
  config_.out_of_window = settings.at("nack_out_of_window") != 0 ? OutOfWindow::nack : OutOfWindow::drop;
  config_.dynamic_mpr = settings.at("dynamic_mpr") != 0;
  set_constants(dut);
}

void PsnTrackerModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  begin(random, dut);
  busy_slots_ = std::min(64U, sizes_.slots);
  set_constants(dut);
}

Psn PsnTrackerModel::draw_psn(const PsnTracker& tracker, const Habit& habit, KeyedRandom& random) const {
  const Psn expected = tracker.expected_psn();
  if (random.chance(habit.in_order)) return expected;
  const bool run_ended =
      habit.fills > 0 && (tracker.classify(psn_add(tracker.highest_psn(), 1)) != PsnOutcome::accept ||
                          psn_distance(tracker.highest_psn(), expected) >= habit.longest_run);
  if (run_ended && random.chance(habit.fills)) return expected;
  if (random.chance(habit.runs)) {
    const bool leaves_hole = random.chance(tracker.ooo_count() == 0 ? habit.holes : habit.further_holes);
    return psn_add(tracker.highest_psn(), leaves_hole ? 2 : 1);
  }
  const std::uint32_t window = tracker.window_psns();
  const auto ahead = [&](std::uint64_t by) { return psn_add(expected, static_cast<std::int64_t>(by)); };
  if (random.chance(half_circle_)) return ahead((1U << 23) - 2 + random.below(4));
  switch (random.below(12)) {
    case 0:
      return psn_add(expected, -1 - static_cast<std::int64_t>(random.below(300)));
    case 1:
      return ahead(random.below(window));
    case 2:
      return ahead(window - 3 + random.below(6));
    case 3:
      return ahead(window + random.below(1U << 22));
    case 4:
      return tracker.highest_psn();
    case 5:
      return ahead(random.below(8));
    case 6:
      return ahead(128 - (expected & 127) + random.below(3) - 1);  // where a bank begins
    default:
      return psn_add(tracker.highest_psn(), 1);
  }
}

Psn PsnTrackerModel::draw_sack_psn(const PsnTracker& tracker, const Habit& habit, KeyedRandom& random) const {
  // The bitmap of a marked packet begins at it, and reaches beyond the highest.
  if (random.chance(0.5)) return psn_add(tracker.highest_psn(), -static_cast<std::int64_t>(random.below(80)));
  return draw_psn(tracker, habit, random);
}

bool PsnTrackerModel::offer(std::size_t, KeyedRandom& random, Transaction& values) {
  values.assign(Req::kContext + context_words_, 0);
  const bool stays = random.chance(stays_) && last_slot_ < sizes_.slots;
  values[Req::kSlot] = stays ? last_slot_ : slot_numbers_[random.below(busy_slots_)];
  const std::optional<ReceiveWindow>& window = windows_[values[Req::kSlot]];
  // What nobody may look at.
  for (std::size_t word = 0; word + 1 < context_words_; ++word)
    values[Req::kContext + word] = random.next() & 0xFFFF'FFFF;
  if (!window && !outside_.empty() && (outside_.size() >= kMostOutside || random.chance(0.8))) {
    values[Req::kOp] = kLoad;
    put_row(outside_[random.below(outside_.size())].row, values);
    return true;
  }
  if (!window) {
    values[Req::kOp] = kSetup;
    values[Req::kPsn] =
        random.chance(0.5) ? random.next() & kPsnMask : psn_add(0, -static_cast<std::int64_t>(random.below(200)));
    return true;
  }
  if (random.chance(releases_)) {
    values[Req::kOp] = kRelease;
    return true;
  }
  if (leaving_.size() + outside_.size() < kMostOutside && random.chance(moves_)) {
    values[Req::kOp] = kStore;
    return true;
  }
  Habit& habit = habits_[values[Req::kSlot]];
  if (random.chance(changes_)) habit = draw_habit(random);
  if (random.chance(habit.sacks)) {
    values[Req::kOp] = kSack;
    values[Req::kPsn] = draw_sack_psn(window->tracker(), habit, random);
    values[Req::kCe] = random.chance(0.3) ? 1 : 0;
    values[Req::kAckRequest] = random.chance(0.2) ? 1 : 0;
    values[Req::kProbe] = random.chance(0.2) ? 1 : 0;
    values[Req::kProbeId] = random.next() & 0xFFFF;
    return true;
  }
  values[Req::kPsn] = draw_psn(window->tracker(), habit, random);
  values[Req::kOp] = random.chance(0.9) ? 1 : 2 + random.below(2);
  values[Req::kEndsMessage] = random.chance(habit.ends) ? 1 : 0;
  for (const std::size_t field : {Req::kAllowed, Req::kPacketBuffer, Req::kOtherResource, Req::kReceive}) {
    values[field] = random.chance(habit.refusals) ? 0 : 1;
  }
  return true;
}

bool PsnTrackerModel::adapt(std::size_t, Transaction& values) const {
  // A run has more slots than the small size.
  if (values[Req::kSlot] >= windows_.size()) return false;
  const bool begins = values[Req::kOp] == kSetup || values[Req::kOp] == kLoad;
  if (begins == windows_[values[Req::kSlot]].has_value()) return false;
  if (values[Req::kOp] != kLoad || find_outside(values) != outside_.end()) return true;
  // A context that is not there now, as transfers were dropped: another one.
  if (outside_.empty()) return false;
  put_row(outside_.front().row, values);
  return true;
}

void PsnTrackerModel::accept_sack(ReceiveWindow& window, const Transaction& values, Transaction& reply) {
  SackTrigger trigger;
  trigger.psn = static_cast<Psn>(values[Req::kPsn]);
  trigger.ce = values[Req::kCe] != 0;
  trigger.ack_request = values[Req::kAckRequest] != 0;
  trigger.probe = values[Req::kProbe] != 0;
  trigger.probe_id = static_cast<std::uint16_t>(values[Req::kProbeId]);
  const PsnTracker& tracker = window.tracker();
  SackFields contents;
  window.fill(trigger, contents);
  reply[Rsp::kSackOffset] = static_cast<std::uint16_t>(contents.sack_offset);
  reply[Rsp::kAckPsnOffset] = static_cast<std::uint16_t>(contents.ack_psn_offset);
  reply[Rsp::kSackBitmap] = contents.sack_bitmap;
  reply[Rsp::kMpr] = contents.mpr;
  if (config_.dynamic_mpr) coverage.hit(points_.grant, contents.mpr == sizes_.mpr_units ? 0 : 1);

  const Psn base = sack_base(tracker.cack_psn(), tracker.highest_psn(), trigger);
  banks_looked_at_ = banks_of_sack(tracker, base);
  const std::size_t kind = base == tracker.expected_psn() ? 0 : base == trigger.psn ? 1 : 2;
  const std::size_t asked = trigger.probe ? 2 : trigger.ce || trigger.ack_request ? 1 : 0;
  if (kind != 1 || asked == 1) coverage.hit(points_.base, kind, asked, 3);
  const std::uint32_t in_first = 128 - (base & 127);
  const bool second = in_first < 64 && contents.sack_bitmap >> in_first != 0;
  const bool no_second = in_first < 64 && banks_looked_at_ == 1;
  coverage.hit(points_.span, contents.sack_bitmap == 0 ? 0 : second ? 2 : no_second ? 3 : 1);
}

void PsnTrackerModel::accept_release(std::optional<ReceiveWindow>& window, Transaction& reply) {
  const PsnTracker& tracker = window->tracker();
  reply[Rsp::kCack] = tracker.cack_psn();
  reply[Rsp::kHighest] = tracker.cack_psn();
  coverage.hit(points_.release, level(tracker.banks_held()));
  banks_looked_at_ = std::max(tracker.banks_held(), 1U);
  further_cycles_ = banks_looked_at_ - 1;
  window->release();
  window.reset();
}

void PsnTrackerModel::cover_window(const PsnTracker& tracker, Psn psn, const RxVerdict& verdict) {
  const std::int32_t ahead = psn_distance(psn, tracker.expected_psn());
  const auto window = static_cast<std::int32_t>(tracker.window_psns());
  const bool inside = ahead >= 0 && ahead < window;
  const bool half_circle = ahead == -(1 << 23) || ahead == (1 << 23) - 1;
  const bool wraps = inside && psn_add(tracker.expected_psn(), window) < tracker.expected_psn();
  coverage.hit(points_.window_end, ahead == window - 1 ? 0 : ahead == window ? 1 : half_circle ? 2 : wraps ? 3 : 4);
  if (verdict.outcome != PsnOutcome::out_of_window) return;
  coverage.hit(points_.refused, config_.out_of_window == OutOfWindow::nack ? 0 : 1);
  if (ahead < static_cast<std::int32_t>(sizes_.mpr_units * kMprUnitPsns)) coverage.hit(points_.refused, 2);
}

void PsnTrackerModel::accept_packet(ReceiveWindow& window, const Transaction& values, Transaction& reply) {
  const auto psn = static_cast<Psn>(values[Req::kPsn]);
  const RxConditions conditions{.allowed = values[Req::kAllowed] != 0,
                                .packet_buffer = values[Req::kPacketBuffer] != 0,
                                .other_resource = values[Req::kOtherResource] != 0,
                                .receive = values[Req::kReceive] != 0};
  const bool whole = values[Req::kOp] == 1;
  const std::uint32_t banks_before = pool_->in_use();
  const RxVerdict verdict =
      whole ? window.decide(psn, [&] { return conditions; }) : window.decide_trimmed(psn, values[Req::kOp] == 3);
  reply[Rsp::kOutcome] = static_cast<std::uint64_t>(verdict.outcome);
  reply[Rsp::kNack] = static_cast<std::uint64_t>(verdict.nack);
  reply[Rsp::kPlace] = verdict.place ? 1 : 0;
  reply[Rsp::kDuplicate] = verdict.duplicate ? 1 : 0;
  reply[Rsp::kRepeatAck] = verdict.repeat_ack ? 1 : 0;
  coverage.hit(points_.outcome, values[Req::kOp] - 1, static_cast<std::size_t>(verdict.outcome), kOutcomes.size());
  constexpr std::array reasons{NackReason::trimmed,       NackReason::trimmed_lasthop, NackReason::no_bitmap,
                               NackReason::no_pkt_buffer, NackReason::no_resource,     NackReason::psn_oor_window,
                               NackReason::unexp_event};
  const auto reason = std::find(reasons.begin(), reasons.end(), verdict.nack);
  if (reason != reasons.end()) {
    const bool no_receive = verdict.nack == NackReason::unexp_event && conditions.allowed;
    coverage.hit(points_.nack, static_cast<std::size_t>(reason - reasons.begin()) + (no_receive ? 1 : 0));
  }
  const PsnTracker& tracker = window.tracker();
  cover_window(tracker, psn, verdict);
  if (!verdict.place) return;
  const Psn before = tracker.expected_psn();
  reply[Rsp::kCloses] = window.place(psn, values[Req::kEndsMessage] != 0);
  const Psn after = tracker.expected_psn();
  banks_looked_at_ = banks_of_advance(tracker, psn);
  further_cycles_ = kPsnTrackerCyclesPerBank * (banks_looked_at_ - 1);
  coverage.hit(points_.closes, level(reply[Rsp::kCloses]));
  coverage.hit(points_.walk, level(((after >> 7) - (before >> 7)) & (kPsnMask >> 7)));
  if (banks_looked_at_ > sizes_.mpr_units) coverage.hit(points_.walk, 4);
  if (pool_->in_use() > banks_before && pool_->in_use() == sizes_.banks) coverage.hit(points_.last_bank, 0);
  if (pool_->in_use() > banks_before && tracker.banks_held() == sizes_.mpr_units + 1)
    coverage.hit(points_.last_bank, 1);
  if (after != before && after % PsnTracker::kBankPsns == 0) {
    coverage.hit(points_.stop, tracker.ooo_count() == 0 ? 0 : 1);
  }
  coverage.hit(points_.psn, after < before ? 0 : 1);
}

bool PsnTrackerModel::Pipeline::done(bool out_free) const {
  const std::optional<Request>& decides = stages_[kDecides];
  return acts(out_free) && !decides->stale && decides->left == 1;
}

bool PsnTrackerModel::Pipeline::reads(bool out_free) const {
  const std::optional<Request>& decides = stages_[kDecides];
  return acts(out_free) && (decides->stale || (decides->left > 1 && decides->op != PsnOp::release));
}

bool PsnTrackerModel::Pipeline::moves(std::size_t stage, bool out_free) const {
  if (!stages_[stage]) return false;
  if (stage + 1 == kDecides) return !stages_[kDecides] || done(out_free);
  if (stage + 2 == kDecides && reads(out_free)) return false;
  return !stages_[stage + 1] || moves(stage + 1, out_free);
}

void PsnTrackerModel::Pipeline::move(std::size_t stage) {
  stages_[stage + 1] = stages_[stage];
  stages_[stage].reset();
}

void PsnTrackerModel::Pipeline::edge(bool out_free) {
  const std::array<bool, kDecides> moving{moves(0, out_free), moves(1, out_free), moves(2, out_free)};
  const bool fetches = reads(out_free);
  const bool ends = done(out_free);
  const bool acting = acts(out_free);
  const bool looks = acting && !stages_[kDecides]->stale;
  if (moving[1] && stages_[1]->op == PsnOp::sack) {
    const auto in_front = [&](std::size_t stage) { return stages_[stage] && stages_[stage]->slot == stages_[1]->slot; };
    stages_[1]->stale = in_front(2) || in_front(kDecides);
  }
  if (out_free) reply_ = counts_ == Counts::last;
  new_reply_ = out_free;
  if (counts_ != Counts::last || out_free) counts_ = ends ? Counts::last : looks ? Counts::further : Counts::nothing;
  if (looks && !ends) --stages_[kDecides]->left;
  if (acting) stages_[kDecides]->stale = false;
  if (ends && stages_[kDecides]->op == PsnOp::load) load_inside_ = false;
  if (ends) stages_[kDecides].reset();
  for (std::size_t stage = kDecides; stage-- > 0;) {
    if (moving[stage]) move(stage);
  }
  fetches_ = fetches;
}

std::optional<Difference> PsnTrackerModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>&) {
  if (!data_sheet_cycles) return std::nullopt;
  const bool reply = dut.ports[1].valid.get() != 0;
  const bool out_free = !reply || dut.ports[1].ready.get() != 0;
  std::optional<Difference> first;
  const auto compare = [&](const char* field, std::uint64_t wanted, std::uint64_t actual) {
    if (wanted != actual && !first) first = Difference{field, wanted, actual};
  };
  compare("rsp_valid", pipeline_.reply() ? 1 : 0, reply ? 1 : 0);
  compare("req_ready", pipeline_.ready(out_free) ? 1 : 0, dut.ports[0].ready.get());
  // Later requests may have moved banks by the second cycle.
  if (reply && pipeline_.new_reply() && !in_use_.empty())
    compare("banks_in_use", in_use_.front(), dut.state[0].pin.get());
  pipeline_.edge(out_free);
  return first;
}

void PsnTrackerModel::taken(std::size_t, const Transaction& values) {
  if (!in_use_.empty()) in_use_.pop_front();
  if (asked_.empty()) return;
  const bool stored = asked_.front() == PsnOp::store;
  asked_.pop_front();
  if (!stored) return;
  outside_.push_back({{values.begin() + Rsp::kContext, values.end()}, std::move(leaving_.front())});
  leaving_.pop_front();
}

void PsnTrackerModel::hide(std::size_t, const Transaction&, Transaction& values) const {
  std::fill(values.begin() + Rsp::kContext, values.end(), 0);
}

void PsnTrackerModel::complete(std::size_t, const Transaction& cause, const Transaction& actual,
                               Transaction& wanted) const {
  if (cause[Req::kOp] != kStore) return;
  std::copy(actual.begin() + Rsp::kContext, actual.end(), wanted.begin() + Rsp::kContext);
}

void PsnTrackerModel::put_row(const Transaction& row, Transaction& values) {
  std::ranges::copy(row, values.begin() + Req::kContext);
}

std::vector<PsnTrackerModel::Outside>::const_iterator PsnTrackerModel::find_outside(const Transaction& values) const {
  return std::ranges::find_if(outside_, [&](const Outside& outside) {
    return std::equal(outside.row.begin(), outside.row.end(), values.begin() + Req::kContext);
  });
}

void PsnTrackerModel::accept_load(const Transaction& values) {
  const auto loaded = outside_.begin() + (find_outside(values) - outside_.cbegin());
  coverage.hit(points_.moved, 1, level(loaded->window.tracker().banks_held()), 4);
  windows_[values[Req::kSlot]].emplace(std::move(loaded->window));
  outside_.erase(loaded);
}

void PsnTrackerModel::accept(std::size_t, const Transaction& values, std::vector<std::vector<Transaction>>& expected) {
  Transaction reply(Rsp::kContext + context_words_, 0);
  further_cycles_ = 0;
  banks_looked_at_ = 1;
  std::optional<ReceiveWindow>& window = windows_[values[Req::kSlot]];
  const std::uint64_t slot = values[Req::kSlot];
  coverage.hit(points_.back_to_back, slot == last_slot_ ? 0 : slot == slot_before_last_ ? 2 : 1);
  slot_before_last_ = last_slot_;
  last_slot_ = slot;
  if (values[Req::kOp] == kSetup) {
    window.emplace(config_, static_cast<Psn>(values[Req::kPsn]), *pool_);
  } else if (values[Req::kOp] == kSack) {
    accept_sack(*window, values, reply);
  } else if (values[Req::kOp] == kRelease) {
    accept_release(window, reply);
  } else if (values[Req::kOp] == kLoad) {
    accept_load(values);
  } else if (values[Req::kOp] != kStore) {
    accept_packet(*window, values, reply);
  }
  if (window) {
    const PsnTracker& tracker = window->tracker();
    reply[Rsp::kCack] = tracker.cack_psn();
    reply[Rsp::kHighest] = tracker.highest_psn();
    reply[Rsp::kOooCount] = tracker.ooo_count();
  }
  if (values[Req::kOp] == kStore) {
    coverage.hit(points_.moved, 0, level(window->tracker().banks_held()), 4);
    leaving_.push_back(std::move(*window));
    window.reset();
  }
  asked_.push_back(static_cast<PsnOp>(values[Req::kOp]));
  coverage.hit(points_.pool, pool_->in_use() == 0 ? 0 : pool_->in_use() == pool_->capacity() ? 2 : 1);
  expected[1].push_back(std::move(reply));
  in_use_.push_back(pool_->in_use());
  pipeline_.take({.op = static_cast<PsnOp>(values[Req::kOp]), .slot = slot, .left = banks_looked_at_});
}

}  // namespace mrc::cosim
