#include "cosim/spray_scheduler/model.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cosim/bench/spread_numbers.h"

namespace mrc::cosim {
namespace {

using rtl::SprayCsr;
using spray_scheduler_ports::Csr;
using spray_scheduler_ports::Done;
using spray_scheduler_ports::Rsp;
using spray_scheduler_ports::Sel;
using spray_scheduler_ports::Upd;

const std::vector<std::string> kEvents{
    "DELIVERED", "ECN",        "ALWAYS_SKIP", "TRIMMED", "TRIMMED_LASTHOP", "LOST", "PROBE_DELIVERED",
    "PROBE_ECN", "PROBE_LOST", "DENY",        "ALLOW"};
const std::vector<std::string> kStates{"GOOD", "SKIP", "ASSUMED_BAD", "DENIED"};
constexpr std::size_t kDenyEvent = 9;
constexpr std::size_t kAllowEvent = 10;
constexpr std::size_t kUpdateEvents = 9;

enum Search : std::size_t { kNoRotation, kNewRotation, kNewOrder, kNoPort, kBusyPorts, kNothingGood, kTwoRotations };
enum Wake : std::size_t { kWithRotation, kSkippedBackup, kOneTime, kSeveralTimes };
enum Update : std::size_t { kReplaced, kFloor, kRevived, kLaterBucket, kUnknownValue, kOblivious, kRemovedSkip };
/// The second half of all times, in which one that began in the first 2^45 ps ends before time does.
constexpr TimePs kLate = 1ULL << 47;
constexpr TimePs kEarly = 1ULL << 45;
// Cycles of work, as in the data sheet.
constexpr std::uint64_t kAcceptedToWork = 2;
constexpr std::uint64_t kSearchCycles = 2;
constexpr std::uint64_t kRotationCycles = 4;
constexpr std::uint64_t kOrderCycles = 7;
constexpr std::uint64_t kUpdateCycles = 4;
constexpr std::uint64_t kControlCycles = 2;
/// From the last EV of an order until it can be walked, at most.
constexpr std::uint64_t kOrderTakenOver = 20;

enum OrderBin : std::size_t { kAlone, kBesidePacket, kBesideUpdate, kBesideControl, kOfTableAtHand, kOfOtherTable };

}  // namespace

SpraySchedulerModel::SpraySchedulerModel(const SpraySizes& sizes, std::uint32_t order_buffers, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), sizes_(sizes), order_buffers_(order_buffers) {
  points_.event = coverage.cross("event × state of its EV", kEvents, kStates);
  points_.search = coverage.point("search", {"without a rotation", "new rotation", "new order", "no port free",
                                             "only busy ports", "nothing GOOD", "two rotations"});
  points_.wake = coverage.point("SKIP EVs come back",
                                {"with the rotation", "a skipped backup", "one by its time", "several by their time"});
  points_.update =
      coverage.point("update", {"backup takes over", "kept at the floor", "revived", "value in a later bucket",
                                "value unknown", "oblivious", "removed while SKIP"});
  points_.control = coverage.point("control", {"limits", "skip time", "profile", "bucket", "open", "port status",
                                               "deny", "allow", "read EV", "read table", "read room"});
  points_.room = coverage.point("room returned", {"with a packet", "alone"});
  points_.back_to_back = coverage.point("packet back to back", {"same table", "another table"});
  points_.turns = coverage.point("turns", {"packet before update", "update before packet", "control before others"});
  points_.skip = coverage.point("SKIP duration", {"rest of rotation", "one rotation", "fixed time"});
  points_.order = coverage.point("EV of an order goes in",
                                 {"alone", "beside a packet", "beside an update", "beside a control operation",
                                  "while its table is at work", "while another table is at work"});
  if (order_buffers_ == 1) coverage.waive(points_.order, kAlone, "with one order held the table waits for the next");
}

// ---- From reset to reset

void SpraySchedulerModel::reset(KeyedRandom& random, const Dut& dut) {
  dut_ = &dut;
  traffic_ = false;
  of_run_ = false;
  now_ = random.next() >> (17 + random.below(random.chance(0.5) ? 4 : 40));
  if (now_ < kEarly && random.chance(0.5)) now_ += kLate;
  ++episodes_;
  configure(random);
  choose_load(random);
}

void SpraySchedulerModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  reset(random, dut);
  traffic_ = true;
  fill_ = ScanOrderFill(order_buffers_);
  configure_traffic();
  make_profile(random);
  set_up(random.next());
}

void SpraySchedulerModel::configure(KeyedRandom& random) {
  planes_ = static_cast<std::uint32_t>(1 + random.below(sizes_.planes));
  config_ = {};
  // Few EVs rotate often.
  const bool few = random.chance(0.2);
  const std::uint32_t evs = few ? sizes_.planes : sizes_.evs;
  config_.ev_count = planes_ * static_cast<std::uint32_t>(1 + random.below(evs / planes_));
  if (!few && random.chance(0.5)) config_.ev_count = sizes_.evs / planes_ * planes_;
  config_.ev_active = planes_ * static_cast<std::uint32_t>(1 + random.below(config_.ev_count / planes_));
  config_.ev_min_active = random.chance(0.5) ? 1 : static_cast<std::uint32_t>(random.below(config_.ev_active + 1));
  constexpr std::array<std::uint32_t, 6> reshuffles{0, 1, 1, 2, 3, 64};
  config_.reshuffle_rotations = reshuffles[random.below(reshuffles.size())];
  // Far away: each bit of the number counts.
  if (random.chance(few ? 0.9 : 0.2)) config_.reshuffle_rotations += 1U << (7 + random.below(few ? 7 : 13));
  config_.skip_duration = static_cast<SkipDuration>(random.below(3));
  config_.skip_time_ps = 1 + (random.chance(0.5) ? random.below(400) : random.next() >> (18 + random.below(46)));
  config_.assumed_bad_losses = static_cast<std::uint32_t>(1 + random.below(8));
  config_.probe_successes = static_cast<std::uint32_t>(1 + random.below(random.chance(0.7)   ? 3
                                                                        : random.chance(0.5) ? 40
                                                                                             : 255));
  config_.probe_skip_state = static_cast<ProbeSkipState>(random.below(2));
  config_.path_feedback = random.chance(0.03) ? PathFeedback::oblivious : PathFeedback::adaptive;
  most_room_ = random.chance(0.7) ? 60'000 : 200'000'000;
  make_profile(random);
  set_up(random.next());
  coverage.hit(points_.skip, static_cast<std::size_t>(config_.skip_duration));
}

/// The defaults of the protocol, as far as the block has room for them.
void SpraySchedulerModel::configure_traffic() {
  planes_ = sizes_.planes;
  config_ = {};
  config_.ev_count = std::min(config_.ev_count, sizes_.evs);
  config_.ev_active = std::min(config_.ev_active, sizes_.evs / 2);
  most_room_ = 200'000'000;
}

/// Values whose low bits often meet in one bucket; as many EVs of each plane among the first that are in use.
void SpraySchedulerModel::make_profile(KeyedRandom& random) {
  profile_ = {};
  const std::uint64_t spread = 1 + random.below(4ULL * sizes_.evs);
  const std::uint32_t rotated = traffic_ ? 0 : static_cast<std::uint32_t>(random.below(planes_));
  while (profile_.value.size() < config_.ev_count) {
    const auto value = static_cast<Ev>((random.next() & ~(4ULL * sizes_.evs - 1)) | random.below(spread));
    if (std::find(profile_.value.begin(), profile_.value.end(), value) != profile_.value.end()) continue;
    const std::size_t i = profile_.value.size();
    profile_.plane.push_back(static_cast<std::uint8_t>((i + i / planes_ * rotated) % planes_));
    profile_.value.push_back(value);
  }
  buckets_ = spray_buckets(profile_, 2 * sizes_.evs);
}

void SpraySchedulerModel::set_up(std::uint64_t key) {
  const std::uint32_t tables = traffic_ ? 1 : 1 + static_cast<std::uint32_t>(key >> 32) % std::min(4U, sizes_.tables);
  const SpreadNumbers slots(sizes_.tables, KeyedRandom(key, "slots"));
  forget_tables();
  for (std::uint32_t i = 0; i < tables; ++i) {
    add_table(slots[i], KeyedRandom(key, i));
  }
  setup_ = spray_set_up(profile_, *tables_[0], sizes_.evs);
  for (std::uint32_t i = 0; i < tables; ++i) {
    setup_.push_back(spray_csr(SprayCsr::open, slots_[i], 0, tables_[i]->active_total()));
  }
}

void SpraySchedulerModel::forget_tables() {
  tables_.clear();
  order_randoms_.clear();
  slots_.clear();
  orders_drawn_.clear();
  orders_in_.clear();
  order_.clear();
  room_.assign(sizes_.planes, 0);
  last_turn_ = Turn::none;
  due_.clear();
  held_.fill(false);
  free_cycle_ = work_cycle_ = 0;
  last_select_cycle_ = ~0ULL;
  last_credit_cycle_ = ~0ULL;
  order_evs_ = 0;
  set_up_ = 0;
}

void SpraySchedulerModel::add_table(std::uint32_t slot, KeyedRandom random) {
  tables_.push_back(std::make_unique<PathTable>(profile_, config_, planes_, random));
  order_randoms_.push_back(tables_.back()->order_random());
  slots_.push_back(slot);
  orders_drawn_.push_back(0);
  orders_in_.emplace_back();
}

// ---- What a run has asked

void SpraySchedulerModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                         const std::map<std::string, std::uint64_t>& settings) {
  reset(random, dut);
  const auto number = [&](const char* name) { return static_cast<std::uint32_t>(settings.at(name)); };
  if (number("evs") != sizes_.evs) {
    throw std::invalid_argument(
        fmt::format("the run's spray_scheduler is built for {} EVs, this size for {}", number("evs"), sizes_.evs));
  }
  of_run_ = true;
  key_ = random.next();
  planes_ = number("planes");
  config_ = {};
  config_.ev_count = number("ev_count");
  config_.ev_active = number("ev_active");
  config_.ev_min_active = number("ev_min_active");
  config_.reshuffle_rotations = number("reshuffle_rotations");
  config_.probe_successes = number("probe_successes");
  config_.assumed_bad_losses = number("assumed_bad_losses");
  config_.path_feedback = static_cast<PathFeedback>(number("path_feedback"));
  config_.probe_skip_state = static_cast<ProbeSkipState>(number("probe_skip_state"));
  config_.skip_duration = static_cast<SkipDuration>(number("skip_duration"));
  config_.skip_time_ps = settings.at("skip_time_ps");
  profile_ = {};
  buckets_.clear();
  forget_tables();
}

/// In the order of spray_set_up(), then tables.
bool SpraySchedulerModel::is_next_set_up(const Transaction& values) const {
  const std::size_t evs = config_.ev_count;
  const std::size_t buckets = 2 * std::size_t{sizes_.evs};
  const auto is = [&](SprayCsr op, std::size_t index) {
    return values[Csr::kOp] == static_cast<std::uint64_t>(op) && values[Csr::kIndex] == index;
  };
  if (set_up_ == 0) return is(SprayCsr::limits, 0);
  if (set_up_ == 1) return is(SprayCsr::skip_time, 0);
  if (set_up_ < 2 + evs) return is(SprayCsr::profile, set_up_ - 2);
  if (set_up_ < 2 + evs + buckets) return is(SprayCsr::bucket, set_up_ - 2 - evs);
  return is(SprayCsr::open, 0) && table_of(values[Csr::kSlot]) == tables_.size();
}

void SpraySchedulerModel::follow_set_up(const Transaction& values) {
  const std::uint64_t word = values[Csr::kWdata];
  switch (static_cast<SprayCsr>(values[Csr::kOp])) {
    case SprayCsr::profile:
      profile_.value.push_back(static_cast<Ev>(word));
      profile_.plane.push_back(static_cast<std::uint8_t>(word >> 32));
      return;
    case SprayCsr::bucket:
      buckets_.push_back(word == 0 ? kNoEv : static_cast<EvIndex>(word & (sizes_.evs - 1)));
      return;
    case SprayCsr::open:
      return add_table(static_cast<std::uint32_t>(values[Csr::kSlot]), KeyedRandom(key_, values[Csr::kSlot]));
    default:
      return;
  }
}

void SpraySchedulerModel::choose_load(KeyedRandom& random) {
  scarce_ = random.chance(0.3);
  control_share_ = random.chance(0.7) ? 0.02 : 0.2;
  favourite_share_ = random.chance(0.7) ? 0.6 : 0.99;
  favourite_ = random.chance(0.5) ? static_cast<int>(random.below(kUpdateEvents)) : -1;
  one_ev_share_ = random.chance(0.3) ? 0.9 : 0;
  // So many of one EV that its counts go far.
  if (one_ev_share_ > 0 && random.chance(0.5)) favourite_ = static_cast<int>(PathEvent::probe_delivered);
}

// ---- Stimulus

void SpraySchedulerModel::drive(KeyedRandom& random, const Dut&) {
  now_ += random.chance(0.001) ? random.next() >> (24 + random.below(40)) : random.below(8);
  if (!traffic_ && random.chance(0.005)) choose_load(random);
}

bool SpraySchedulerModel::offer(std::size_t port, KeyedRandom& random, Transaction& values) {
  if (port == kOrder) return offer_order(values);
  if (port == kCsr) return offer_control(random, values);
  if (!ready_for_work()) return false;
  if (port == kCredit) return offer_credit(random, values);
  if (port == kUpdate) return !traffic_ && offer_update(random, values);
  return offer_select(random, values);
}

EvIndex SpraySchedulerModel::next_of_order() const {
  const auto value_of = [&](std::size_t i) { return dut_->state[i].pin.get(); };
  if (value_of(0) == 0) return kNoEv;
  if (!order_.empty()) return order_.front();
  const std::size_t table = table_of(value_of(1));
  if (table == tables_.size()) return kNoEv;
  // The first order is that which ring 1's table began with.
  if (orders_drawn_[table] > 0) {
    draw_scan_order(order_randoms_[table], profile_.value.size(), drawn_);
  } else {
    drawn_ = tables_[table]->scan_order();
  }
  ++orders_drawn_[table];
  order_.assign(drawn_.begin(), drawn_.end());
  return order_.front();
}

bool SpraySchedulerModel::offer_order(Transaction& values) {
  const EvIndex ev = next_of_order();
  values.assign(1, ev);
  return ev != kNoEv;
}

bool SpraySchedulerModel::offer_control(KeyedRandom& random, Transaction& values) {
  if (!ready_for_work()) {
    values = setup_[set_up_].transfer();
    return true;
  }
  if (traffic_ || !random.chance(control_share_)) return false;
  constexpr std::array ops{SprayCsr::port_status, SprayCsr::deny,      SprayCsr::allow,    SprayCsr::read_ev,
                           SprayCsr::read_ev,     SprayCsr::read_slot, SprayCsr::read_room};
  const SprayCsr op = ops[random.below(ops.size())];
  std::uint64_t word = random.next();
  if (op == SprayCsr::port_status) word = (random.next() | random.next()) & ((1U << sizes_.planes) - 1);
  const std::uint64_t indices = op == SprayCsr::read_room ? sizes_.planes : profile_.value.size();
  values = {static_cast<std::uint64_t>(op), slots_[random.below(slots_.size())], random.below(indices), word};
  return true;
}

bool SpraySchedulerModel::offer_select(KeyedRandom& random, Transaction& values) {
  const std::uint32_t all = (1U << sizes_.planes) - 1;
  const std::uint64_t up = traffic_ ? all : (random.next() | random.next() | random.next()) & all;
  values = {slots_[random.below(slots_.size())], 64 + random.below(9'000), up, now_};
  if (!traffic_) return true;
  // Room is never short.
  return std::all_of(room_.begin(), room_.end(), [](std::uint64_t room) { return room > 100'000; });
}

bool SpraySchedulerModel::offer_update(KeyedRandom& random, Transaction& values) {
  std::uint64_t index = random.below(profile_.value.size());
  if (random.chance(0.3)) index %= 4;
  if (random.chance(one_ev_share_)) index = 0;
  const std::uint64_t event = favourite_ >= 0 && random.chance(favourite_share_)
                                  ? static_cast<std::uint64_t>(favourite_)
                                  : random.below(kUpdateEvents);
  const bool by_value = random.chance(0.5);
  Ev value = profile_.value[index];
  if (by_value && random.chance(0.05)) {
    value = random.chance(0.5) ? static_cast<Ev>(random.next()) : value ^ 1U << random.below(32);
  }
  // What does not count may be anything.
  values = {slots_[random.below(slots_.size())],
            event,
            by_value ? 1ULL : 0ULL,
            by_value ? random.below(sizes_.evs) : index,
            by_value ? value : random.next() & 0xFFFF'FFFF,
            now_};
  return true;
}

bool SpraySchedulerModel::offer_credit(KeyedRandom& random, Transaction& values) {
  std::vector<std::uint64_t> bytes(sizes_.planes, 0);
  bool any = false;
  for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) {
    const bool some = plane < planes_ && (traffic_ || random.chance(0.5)) && room_[plane] < most_room_;
    any |= some;
    bytes[plane] = !some ? 0 : traffic_ ? 10'000'000 : random.below(scarce_ ? 2'000 : most_room_ / 5);
  }
  values = spray_credit_words(bytes, sizes_.planes);
  return any || !traffic_;
}

bool SpraySchedulerModel::legal(std::size_t port, const Transaction& values) const {
  const bool sets_up = port == kCsr && values[Csr::kOp] <= static_cast<std::uint64_t>(SprayCsr::open);
  if (of_run_ && sets_up) return is_next_set_up(values);
  // Of the other ports' transfers but room, the table is the first field.
  if (of_run_ && port != kCredit) return table_of(values[port == kCsr ? std::size_t{Csr::kSlot} : 0]) != tables_.size();
  if (port == kCsr && !ready_for_work()) return values == setup_[set_up_].transfer();
  return !sets_up && ready_for_work();
}

bool SpraySchedulerModel::adapt(std::size_t port, Transaction& values) const {
  if (port != kOrder) return legal(port, values);
  const EvIndex ev = next_of_order();
  values.assign(1, ev);
  return ev != kNoEv;
}

// ---- What the data sheet says of the handshakes

/// Answers come in their order and, if nothing holds them up, in their cycle; packets and updates go in turn; no table
/// asks for more orders than it uses and holds.
std::optional<Difference> SpraySchedulerModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>&) {
  const auto valid = [&](std::size_t port) { return dut.ports[port].valid.get() != 0; };
  const auto ready = [&](std::size_t port) { return dut.ports[port].ready.get() != 0; };
  ++cycle_;
  const bool packet = valid(kSelect) && ready(kSelect);
  const bool update = valid(kUpdate) && ready(kUpdate);
  const bool control = valid(kCsr) && ready(kCsr);
  if (valid(kOrder) && ready(kOrder)) {
    coverage.hit(points_.order, packet                                 ? kBesidePacket
                                : update                               ? kBesideUpdate
                                : control                              ? kBesideControl
                                : due_.empty()                         ? kAlone
                                : dut.state[1].pin.get() == last_slot_ ? kOfTableAtHand
                                                                       : kOfOtherTable);
  }
  if (control && (valid(kSelect) || valid(kUpdate))) coverage.hit(points_.turns, 2);
  const bool both = valid(kSelect) && valid(kUpdate) && (packet || update);
  if (both) coverage.hit(points_.turns, packet ? 0 : 1);
  if (both && last_turn_ != Turn::none && packet != (last_turn_ == Turn::update)) {
    return Difference{"turn of a packet", last_turn_ == Turn::update ? 1ULL : 0ULL, packet ? 1ULL : 0ULL};
  }
  if (const auto difference = compare_ready(dut)) return difference;
  if (packet) last_turn_ = Turn::select;
  if (update) last_turn_ = Turn::update;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const std::uint64_t held = config_.reshuffle_rotations == 0 ? 1 : order_buffers_;
    const std::uint64_t most = tables_[i]->reshuffles() + held;
    if (orders_drawn_[i] > most) return Difference{"orders of a table", most, orders_drawn_[i]};
  }

  return observe_answers(dut);
}

std::optional<Difference> SpraySchedulerModel::compare_ready(const Dut& dut) const {
  if (!data_sheet_cycles || work_cycle_ == kUnknownCycle) return std::nullopt;
  const auto valid = [&](std::size_t port) { return dut.ports[port].valid.get() != 0; };
  const bool takes = cycle_ >= work_cycle_;
  const bool update_was_last = last_turn_ == Turn::update;
  const std::array wanted{std::pair{kCsr, takes},
                          std::pair{kUpdate, takes && !valid(kCsr) && !(valid(kSelect) && update_was_last)},
                          std::pair{kSelect, takes && !valid(kCsr) && !(valid(kUpdate) && !update_was_last)}};
  for (const auto& [port, ready] : wanted) {
    const bool actual = dut.ports[port].ready.get() != 0;
    if (actual != ready) return Difference{dut.ports[port].name + "_ready", ready, actual};
  }
  return std::nullopt;
}

/// Answers come in the order of their operations, and in the cycle that they are due, as far as that is known: nothing
/// that takes longer came before, and no answer was held up.
std::optional<Difference> SpraySchedulerModel::observe_answers(const Dut& dut) {
  if (!data_sheet_cycles) return std::nullopt;
  for (const std::size_t port : {kRsp, kDone, kCsrAnswer}) {
    const bool valid = dut.ports[port].valid.get() != 0;
    const bool held = std::exchange(held_[port - kRsp], valid && dut.ports[port].ready.get() == 0);
    if (held_[port - kRsp]) {
      for (DueAnswer& answer : due_) answer.cycle = kUnknownCycle;
      free_cycle_ = kUnknownCycle;
      if (work_cycle_ > cycle_) work_cycle_ = kUnknownCycle;
    }
    if (!valid || held) continue;
    if (due_.empty() || due_.front().port != port)
      return Difference{"order of answers", due_.empty() ? 0 : due_.front().port, port};
    const std::uint64_t cycle = due_.front().cycle;
    due_.pop_front();
    if (cycle != kUnknownCycle && cycle != cycle_) return Difference{"cycle of an answer", cycle, cycle_};
    // The operation is over, and none is behind it.
    if (!due_.empty() || held_[port - kRsp]) continue;
    if (free_cycle_ == kUnknownCycle) free_cycle_ = cycle_;
    if (work_cycle_ == kUnknownCycle) work_cycle_ = cycle_;
  }
  if (!due_.empty() && due_.front().cycle < cycle_) return Difference{"cycle of an answer", due_.front().cycle, cycle_};
  return std::nullopt;
}

/// An operation was taken that works for `cycles`; kUnknownCycle: not known.
void SpraySchedulerModel::expect_answer(std::size_t port, std::uint64_t cycles) {
  if (!data_sheet_cycles) return;
  work_cycle_ = free_cycle_ == kUnknownCycle ? kUnknownCycle : std::max(cycle_ + kAcceptedToWork, free_cycle_);
  const bool known = work_cycle_ != kUnknownCycle && cycles != kUnknownCycle;
  free_cycle_ = known ? work_cycle_ + cycles : kUnknownCycle;
  due_.push_back({port, free_cycle_});
}

// ---- Ring 1 follows

std::size_t SpraySchedulerModel::table_of(std::uint64_t slot) const {
  return static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), slot) - slots_.begin());
}

void SpraySchedulerModel::accept(std::size_t port, const Transaction& values,
                                 std::vector<std::vector<Transaction>>& expected) {
  switch (port) {
    case kCredit:
      return accept_credit(values);
    case kOrder:
      return accept_order();
    case kCsr:
      expected[kCsrAnswer].push_back(accept_control(values));
      return;
    case kUpdate:
      expected[kDone].push_back(accept_update(values));
      return;
    default:
      expected[kRsp].push_back(accept_select(values));
      return;
  }
}

void SpraySchedulerModel::accept_credit(const Transaction& values) {
  for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) {
    for (unsigned bit = 0; bit < kSprayCreditBits; ++bit) {
      const std::size_t at = std::size_t{plane} * kSprayCreditBits + bit;
      room_[plane] += (values[at / 32] >> (at % 32) & 1) << bit;
    }
  }
  last_credit_cycle_ = cycle_;
  const bool with_packet = dut_->ports[kSelect].valid.get() != 0 && dut_->ports[kSelect].ready.get() != 0;
  coverage.hit(points_.room, with_packet ? 0 : 1);
}

void SpraySchedulerModel::accept_order() {
  order_.pop_front();
  ++order_evs_;
  if (!order_.empty()) return;
  OrdersIn& orders_in = orders_in_[table_of(dut_->state[1].pin.get())];
  orders_in = {orders_in.count + 1, cycle_};
}

std::uint32_t SpraySchedulerModel::inactive_skipped(const PathTable& table) const {
  std::uint32_t count = 0;
  for (EvIndex ev = 0; ev < table.size(); ++ev) {
    count += table.state(ev) == EvState::skip && !table.active(ev) ? 1 : 0;
  }
  return count;
}

void SpraySchedulerModel::count_search(const PathTable& table, bool found, bool no_good, std::uint64_t ended,
                                       bool new_order) {
  coverage.hit(points_.search, no_good      ? kNothingGood
                               : !found     ? kBusyPorts
                               : ended == 0 ? kNoRotation
                               : new_order  ? kNewOrder
                                            : kNewRotation);
  if (ended == 2) coverage.hit(points_.search, kTwoRotations);
  const std::uint64_t slot = slots_[static_cast<std::size_t>(
      std::find_if(tables_.begin(), tables_.end(), [&](const auto& other) { return other.get() == &table; }) -
      tables_.begin())];
  if (last_select_cycle_ + 2 == cycle_) coverage.hit(points_.back_to_back, last_slot_ == slot ? 0 : 1);
}

Transaction SpraySchedulerModel::accept_select(const Transaction& values) {
  const std::size_t table_number = table_of(values[Sel::kSlot]);
  PathTable& table = *tables_[table_number];
  const std::uint64_t bytes = values[Sel::kBytes];
  const TimePs time = values[Sel::kTime];
  std::uint32_t free = 0;
  for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) {
    if ((values[Sel::kPortsUp] >> plane & 1) != 0 && room_[plane] >= bytes) free |= 1U << plane;
  }
  const std::uint64_t rotations = table.rotations();
  const std::uint64_t reshuffles = table.reshuffles();
  const std::uint32_t skipped = table.count(EvState::skip);
  const TimePs skip_end = table.next_skip_end();
  const std::uint32_t backups = inactive_skipped(table);
  const EvIndex ev = free == 0 ? kNoEv : table.select(free, time);
  const std::uint64_t ended = table.rotations() - rotations;
  const bool no_good = ev == kNoEv && !table.has_good(~0U);
  new_orders_ = table.reshuffles() - reshuffles;
  rotations_ = ended;

  Transaction reply(Rsp::kFields, 0);
  reply[Rsp::kFreePorts] = free;
  reply[Rsp::kFound] = ev != kNoEv ? 1 : 0;
  reply[Rsp::kRotations] = ended;
  reply[Rsp::kNoGood] = no_good ? 1 : 0;
  if (ev != kNoEv) {
    room_[table.plane(ev)] -= bytes;
    reply[Rsp::kEv] = ev;
    reply[Rsp::kValue] = table.value(ev);
    reply[Rsp::kPlane] = table.plane(ev);
  }
  if (table.next_skip_end() != kNever) {
    reply[Rsp::kSkipEndValid] = 1;
    reply[Rsp::kSkipEnd] = table.next_skip_end();
  }

  const std::uint32_t woken = skipped - table.count(EvState::skip);
  const bool one_by_one = woken > 0 && (skip_end != kNever || backups > 0);
  const OrdersIn& orders_in = orders_in_[table_number];
  // Long enough for it to have been taken over.
  const bool order_is_there = orders_in.count > reshuffles + 1 && orders_in.last_cycle + kOrderTakenOver < cycle_;
  std::uint64_t cycles = kSearchCycles + kRotationCycles * (ended - new_orders_) + kOrderCycles * new_orders_;
  if (one_by_one || new_orders_ > 1 || (new_orders_ == 1 && !order_is_there)) cycles = kUnknownCycle;
  expect_answer(kRsp, cycles);
  if (free == 0) {
    coverage.hit(points_.search, kNoPort);
  } else {
    count_search(table, ev != kNoEv, no_good, ended, new_orders_ > 0);
  }
  if (woken > 0 && ended > 0) coverage.hit(points_.wake, kWithRotation);
  if (woken > 0 && backups > 0) coverage.hit(points_.wake, kSkippedBackup);
  if (woken > 0 && skip_end != kNever) coverage.hit(points_.wake, woken > 1 ? kSeveralTimes : kOneTime);
  last_select_cycle_ = cycle_;
  last_slot_ = values[Sel::kSlot];
  return reply;
}

bool SpraySchedulerModel::later_bucket(EvIndex ev) const {
  return buckets_[profile_.value[ev] & (2 * sizes_.evs - 1)] != ev;
}

Transaction SpraySchedulerModel::accept_update(const Transaction& values) {
  PathTable& table = *tables_[table_of(values[Upd::kSlot])];
  const bool by_value = values[Upd::kByValue] != 0;
  last_slot_ = values[Upd::kSlot];
  Transaction reply(Done::kFields, 0);
  const EvIndex ev =
      by_value ? table.find(static_cast<Ev>(values[Upd::kValue])) : static_cast<EvIndex>(values[Upd::kEv]);
  if (ev == kNoEv) {
    coverage.hit(points_.update, kUnknownValue);
    expect_answer(kDone, kUnknownCycle);
    return reply;
  }
  const bool walks = by_value && later_bucket(ev);
  const EvState before = table.state(ev);
  const std::uint64_t held = table.held_at_floor();
  const std::uint64_t events = table.events();
  coverage.hit(points_.event, values[Upd::kEvent], static_cast<std::size_t>(before), kStates.size());
  table.report(ev, static_cast<PathEvent>(values[Upd::kEvent]), values[Upd::kTime]);
  const EvIndex backup = table.last_backup();
  const bool reported = table.events() != events;
  reply[Done::kFound] = 1;
  reply[Done::kEv] = ev;
  reply[Done::kState] = static_cast<std::uint64_t>(table.state(ev));
  reply[Done::kActive] = table.active(ev) ? 1 : 0;
  reply[Done::kReported] = reported ? 1 : 0;
  reply[Done::kHeld] = table.held_at_floor() != held ? 1 : 0;
  reply[Done::kReplaced] = backup != kNoEv ? 1 : 0;
  reply[Done::kBackup] = backup != kNoEv ? backup : 0;

  const bool list_moves = before == EvState::skip && config_.skip_duration == SkipDuration::fixed_time;
  expect_answer(kDone, list_moves || walks ? kUnknownCycle : kUpdateCycles + (backup != kNoEv ? 1 : 0));
  if (walks) coverage.hit(points_.update, kLaterBucket);
  if (backup != kNoEv) coverage.hit(points_.update, kReplaced);
  if (reply[Done::kHeld] != 0) coverage.hit(points_.update, kFloor);
  if (reported && before == EvState::assumed_bad) coverage.hit(points_.update, kRevived);
  if (reported && before == EvState::skip) coverage.hit(points_.update, kRemovedSkip);
  if (config_.path_feedback == PathFeedback::oblivious) coverage.hit(points_.update, kOblivious);
  return reply;
}

Transaction SpraySchedulerModel::accept_control(const Transaction& values) {
  coverage.hit(points_.control, values[Csr::kOp]);
  last_slot_ = values[Csr::kSlot];
  if (values[Csr::kOp] <= static_cast<std::uint64_t>(SprayCsr::open)) {
    ++set_up_;
    const bool opens = values[Csr::kOp] == static_cast<std::uint64_t>(SprayCsr::open);
    expect_answer(kCsrAnswer, opens ? kUnknownCycle : kControlCycles);
    if (of_run_) follow_set_up(values);
    return {0};
  }
  PathTable& table = *tables_[table_of(values[Csr::kSlot])];
  const auto ev = static_cast<EvIndex>(values[Csr::kIndex]);
  const auto op = static_cast<SprayCsr>(values[Csr::kOp]);
  expect_answer(kCsrAnswer, op == SprayCsr::deny || op == SprayCsr::allow ? kUnknownCycle
                            : op == SprayCsr::read_ev                     ? kUpdateCycles
                                                                          : kControlCycles);
  switch (op) {
    case SprayCsr::port_status:
      table.set_port_status(static_cast<std::uint32_t>(values[Csr::kWdata]));
      return {0};
    case SprayCsr::deny:
      coverage.hit(points_.event, kDenyEvent, static_cast<std::size_t>(table.state(ev)), kStates.size());
      table.deny(ev);
      return {0};
    case SprayCsr::allow:
      coverage.hit(points_.event, kAllowEvent, static_cast<std::size_t>(table.state(ev)), kStates.size());
      table.allow(ev);
      return {0};
    case SprayCsr::read_ev: {
      const auto ev_bits = static_cast<unsigned>(std::bit_width(sizes_.evs - 1));
      return {table.position(ev) | std::uint64_t{table.probe_successes(ev)} << ev_bits |
              std::uint64_t{std::min(table.losses(ev), 15U)} << (ev_bits + 8) |
              static_cast<std::uint64_t>(table.state(ev)) << (ev_bits + 12) | std::uint64_t{table.active(ev)} << 63};
    }
    case SprayCsr::read_room:
      return {room_[values[Csr::kIndex]]};
    default: {
      const std::uint32_t reachable = table.reachable() & ((1U << sizes_.planes) - 1);
      const std::uint64_t period = config_.reshuffle_rotations == 0 ? 1U << 20 : config_.reshuffle_rotations;
      return {table.pointer() | std::uint64_t{reachable} << 16 | table.rotations() % period << 32};
    }
  }
}

void SpraySchedulerModel::hide(std::size_t port, const Transaction& cause, Transaction& values) const {
  if (port == kRsp) {
    if (values[Rsp::kFound] == 0) values[Rsp::kEv] = values[Rsp::kValue] = values[Rsp::kPlane] = 0;
    if (values[Rsp::kSkipEndValid] == 0) values[Rsp::kSkipEnd] = 0;
  } else if (port == kDone) {
    if (values[Done::kFound] == 0) std::fill(values.begin(), values.end(), 0);
    if (values[Done::kReplaced] == 0) values[Done::kBackup] = 0;
  } else if (port == kCsrAnswer) {
    // What a denied or allowed EV was like is nobody's business.
    const auto op = static_cast<SprayCsr>(cause[Csr::kOp]);
    if (op == SprayCsr::deny || op == SprayCsr::allow) values[0] = 0;
  }
}

std::string SpraySchedulerModel::meaning(std::size_t port, std::size_t, std::uint64_t expected,
                                         std::uint64_t actual) const {
  if (port != kCsrAnswer || expected == actual) return {};
  const int bit = std::countr_zero(expected ^ actual);
  const int ev_bits = std::bit_width(sizes_.evs - 1);
  return fmt::format("bit {}: {} of an EV, {} of a table", bit,
                     bit < ev_bits        ? "position"
                     : bit < ev_bits + 8  ? "probe successes"
                     : bit < ev_bits + 12 ? "losses"
                     : bit < ev_bits + 14 ? "state"
                                          : "use",
                     bit < 16   ? "pointer"
                     : bit < 32 ? "reachable planes"
                                : "rotations");
}

// ---- Calibration

/// Its table has its first two orders, and the ports have room.
bool SpraySchedulerModel::ready_for_traffic() const {
  return ready_for_work() && order_evs_ >= order_buffers_ * profile_.value.size() &&
         std::all_of(room_.begin(), room_.end(), [](std::uint64_t room) { return room > 100'000; });
}

SystemcCycles SpraySchedulerModel::systemc_cycles(const SystemcCycles& pipeline) const {
  SystemcCycles cycles = pipeline;
  cycles.note = new_orders_ << 32 | rotations_;
  return cycles;
}

SystemcCycles SpraySchedulerModel::systemc_cycles_at(const SystemcCycles& cycles, std::uint64_t cycle) {
  const ScanOrderFill::Waits waits = fill_.packet({.table = this,
                                                   .cycle = cycle,
                                                   .interval = cycles.occupied,
                                                   .rotations = cycles.note & 0xFFFF'FFFF,
                                                   .new_orders = cycles.note >> 32,
                                                   .evs = config_.ev_count});
  return {.occupied = cycles.occupied + waits.before,
          .latency = cycles.latency + waits.before + waits.within,
          .work = cycles.occupied + waits.within};
}

}  // namespace mrc::cosim
