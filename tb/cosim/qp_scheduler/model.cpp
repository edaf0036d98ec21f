#include "cosim/qp_scheduler/model.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "cosim/qp_scheduler/rtl.h"

namespace mrc::cosim {
namespace {

using qp_scheduler_ports::Act;
using qp_scheduler_ports::Back;
using qp_scheduler_ports::Drop;
using qp_scheduler_ports::Fetch;
using qp_scheduler_ports::Fill;
using qp_scheduler_ports::Grant;
using qp_scheduler_ports::Look;
using qp_scheduler_ports::Seen;
using qp_scheduler_ports::Turn;

constexpr std::size_t kPlaces = 4;  ///< of grants, and of answers to the receiving side
constexpr std::uint32_t kSlotsACycle = 16;
constexpr std::uint64_t kQuietCycles = 3'000;  ///< without a transfer but the turns'
/// For which a contract with ranges lets a turn wait that could begin.
constexpr std::uint64_t kMostUnpickedCycles = 1'000;

const std::vector<std::string> kWho{"turn", "receiving side"};
enum Found : std::size_t { kFirstUse, kUsedAgain, kLoading, kFetched, kNoRead, kNotTaken, kAllInUse, kFound };
const std::vector<std::string> kFoundNames{
    "first use", "used again", "being fetched", "fetched", "no read", "fetch waits before it", "all slots in use"};
enum Dropped : std::size_t { kDroppedUsed, kDroppedFresh, kDroppedGranted, kDroppedMissing };

}  // namespace

QpSchedulerModel::QpSchedulerModel(const QpSchedulerSizes& sizes, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), sizes_(sizes) {
  points_.activation = coverage.point("activation", {"idle QP", "listed QP", "QP that has its turn"});
  points_.end = coverage.point("end of a turn", {"wants another", "was activated meanwhile", "goes idle"});
  points_.lookup = coverage.cross("lookup", kWho, kFoundNames);
  points_.fill = coverage.point("context comes", {"for a turn", "for a turn, and was used", "was used"});
  points_.drop = coverage.point("context is dropped", {"used", "not used yet", "of a QP with a grant", "not there"});
  points_.eviction = coverage.point("slot for a fetch", {"was empty", "was another QP's"});
  points_.beside = coverage.point("in one cycle with a turn", {"activation", "return", "nothing"});
}

// ---- From reset to reset

void QpSchedulerModel::begin(KeyedRandom& random, const Dut& dut) {
  list_.emplace(sizes_.qps);
  slots_.emplace(sizes_.qps, sizes_.slots);
  next_on_list_.reset();
  own_.reset();
  next_on_slots_.reset();
  fetch_of_.reset();
  cycles_to_fetch_ = 0;
  turn_ended_ = fetch_waits_ = false;
  walk_ = sizes_.qps;
  quiet_cycles_ = unpicked_cycles_ = waiting_grants_ = waiting_answers_ = 0;
  granted_.clear();
  fetched_.clear();
  has_grant_.assign(sizes_.qps, false);
  fresh_.assign(sizes_.qps, false);
  has_turn_.assign(sizes_.qps, false);
  listed_.assign(sizes_.qps, false);
  quantum_ = static_cast<std::uint32_t>(random.next() & 0x3FFF'FFFF);
  busy_qps_ = sizes_.qps;
  run_ = room_ = list_share_ = give_back_ = 1;
  again_ = 0.5;
  used_share_ = 0;
  traffic_ = false;
  activated_ = 0;
  dut.set_constant("quantum_bytes", quantum_);
}

void QpSchedulerModel::reset(KeyedRandom& random, const Dut& dut) {
  begin(random, dut);
  const std::array<std::uint32_t, 5> busy{1, 2, sizes_.slots - 1, sizes_.slots + sizes_.slots / 2, sizes_.qps};
  busy_qps_ = std::min(busy[random.below(busy.size())], sizes_.qps);
  run_ = std::array{1.0, 1.0, 0.5, 0.1}[random.below(4)];
  room_ = std::array{1.0, 1.0, 0.5, 0.05}[random.below(4)];
  again_ = std::array{0.1, 0.5, 0.9}[random.below(3)];
  list_share_ = std::array{1.0, 0.5, 0.1}[random.below(3)];
  used_share_ = std::array{0.0, 0.5, 1.0}[random.below(3)];
  drop_share_ = std::array{0.0, 0.02, 0.3}[random.below(3)];
  // Rarely: all slots come to be in use.
  if (random.chance(0.25)) give_back_ = 0.01;
}

void QpSchedulerModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                      const std::map<std::string, std::uint64_t>& settings) {
  if (settings.at("slots") != sizes_.slots) {
    throw std::invalid_argument(
        fmt::format("the run's qp_scheduler has {} slots, this size {}", settings.at("slots"), sizes_.slots));
  }
  begin(random, dut);
  quantum_ = static_cast<std::uint32_t>(settings.at("quantum_bytes"));
  dut.set_constant("quantum_bytes", quantum_);
}

void QpSchedulerModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  begin(random, dut);
  traffic_ = true;
}

bool QpSchedulerModel::ready_for_traffic() const {
  return granted_.size() == kQpSchedulerCalibrated;
}

std::optional<std::size_t> QpSchedulerModel::caused(std::size_t port) const {
  return port == Grant::kPort ? std::optional<std::size_t>(1) : std::nullopt;
}

void QpSchedulerModel::drive(KeyedRandom& random, const Dut& dut) {
  // QPs that wait for a slot go round for as long as nobody gives one back, in a replay for ever.
  const bool at_rest = ++quiet_cycles_ > kQuietCycles;
  dut.set_constant("run", random.chance(run_) && !at_rest ? 1 : 0);
  dut.set_constant("read_room", random.chance(room_) ? 1 : 0);
}

// ---- Stimulus

std::uint32_t QpSchedulerModel::some_qp(KeyedRandom& random) const {
  const auto qp = static_cast<std::uint32_t>(random.below(busy_qps_));
  // The highest ones as well.
  return random.chance(0.5) ? qp : sizes_.qps - 1 - qp;
}

bool QpSchedulerModel::offer(std::size_t port, KeyedRandom& random, Transaction& values) {
  switch (port) {
    case Act::kPort:
      if (traffic_ && activated_ == kQpSchedulerCalibrated) return false;
      values = Act{.qp = traffic_ ? activated_++ : some_qp(random)}.transfer();
      return true;
    case Back::kPort: {
      if (granted_.empty() || !random.chance(give_back_)) return false;
      const Granted& granted = granted_[traffic_ ? 0 : random.below(granted_.size())];
      values = Back{.qp = granted.qp, .slot = granted.slot, .again = traffic_ || random.chance(again_)}.transfer();
      return true;
    }
    case Look::kPort:
      values = Look{.qp = some_qp(random)}.transfer();
      return !traffic_;
    case Fill::kPort: {
      if (fetched_.empty()) return false;
      const std::uint32_t qp = fetched_[random.below(fetched_.size())];
      const bool list = random.chance(list_share_);
      values = Fill{.qp = qp, .list = list, .used = !list || random.chance(used_share_)}.transfer();
      return true;
    }
    default:
      values = Drop{.qp = some_qp(random)}.transfer();
      return !traffic_ && random.chance(drop_share_);
  }
}

bool QpSchedulerModel::answers(std::size_t port) const {
  return port == Back::kPort || port == Fill::kPort;
}

bool QpSchedulerModel::adapt(std::size_t port, Transaction& values) const {
  if (port == Fill::kPort) return std::find(fetched_.begin(), fetched_.end(), values[Fill::kQp]) != fetched_.end();
  if (port != Back::kPort) return true;
  const auto granted =
      std::find_if(granted_.begin(), granted_.end(), [&](const Granted& one) { return one.qp == values[Back::kQp]; });
  if (granted == granted_.end()) return false;
  values[Back::kSlot] = granted->slot;
  return true;
}

// ---- Reference

void QpSchedulerModel::accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>&) {
  quiet_cycles_ = 0;
  switch (port) {
    case Act::kPort:
      next_on_list_ = {ListOp::activate, static_cast<std::uint32_t>(values[Act::kQp])};
      return;
    case Back::kPort: {
      const Back back = Back::of(values);
      next_on_list_ = {back.again != 0 ? ListOp::again : ListOp::park, static_cast<std::uint32_t>(back.qp)};
      slots_->give_back(static_cast<std::uint32_t>(back.slot));
      has_grant_[back.qp] = false;
      granted_.erase(
          std::find_if(granted_.begin(), granted_.end(), [&](const Granted& one) { return one.qp == back.qp; }));
      return;
    }
    case Look::kPort:
      next_on_slots_ = {SlotOp::look, static_cast<std::uint32_t>(values[Look::kQp])};
      return;
    case Fill::kPort: {
      const Fill fill = Fill::of(values);
      next_on_slots_ = {SlotOp::fill, static_cast<std::uint32_t>(fill.qp), fill.list != 0, fill.used != 0};
      fetched_.erase(std::find(fetched_.begin(), fetched_.end(), fill.qp));
      return;
    }
    default:
      next_on_slots_ = {SlotOp::drop, static_cast<std::uint32_t>(values[Drop::kQp])};
  }
}

void QpSchedulerModel::taken(std::size_t port, const Transaction& values) {
  if (port != Turn::kPort) quiet_cycles_ = 0;
  if (port == Grant::kPort) {
    --waiting_grants_;
    granted_.push_back(
        {static_cast<std::uint32_t>(values[Grant::kQp]), static_cast<std::uint32_t>(values[Grant::kSlot])});
  }
  if (port == Seen::kPort) --waiting_answers_;
  if (port == Fetch::kPort) {
    fetch_waits_ = false;
    fetched_.push_back(static_cast<std::uint32_t>(values[Fetch::kQp]));
  }
}

void QpSchedulerModel::on_list(const OnList& op) {
  if (op.op == ListOp::activate) {
    coverage.hit(points_.activation, listed_[op.qp] ? 1 : has_turn_[op.qp] ? 2 : 0);
    if (list_->activate(op.qp, 0)) listed_[op.qp] = true;
    return;
  }
  const bool again = op.op == ListOp::again;
  listed_[op.qp] = list_->end_turn(op.qp, again, 0);
  has_turn_[op.qp] = false;
  coverage.hit(points_.end, again ? 0 : listed_[op.qp] ? 1 : 2);
}

void QpSchedulerModel::on_slots(const OnSlots& op, bool read_room, bool fetch_free,
                                std::vector<std::vector<Transaction>>& expected) {
  if (op.op == SlotOp::fill) {
    coverage.hit(points_.fill, !op.used ? 0 : op.list ? 1 : 2);
    slots_->fill(op.qp, op.used);
    fresh_[op.qp] = !op.used;
    if (op.list) own_ = {ListOp::activate, op.qp};
    return;
  }
  if (op.op == SlotOp::drop) {
    const bool here = slots_->here(op.qp);
    coverage.hit(points_.drop, !here               ? kDroppedMissing
                               : fresh_[op.qp]     ? kDroppedFresh
                               : has_grant_[op.qp] ? kDroppedGranted
                                                   : kDroppedUsed);
    slots_->drop(op.qp);
    return;
  }
  const bool turn = op.op == SlotOp::turn;
  const bool all_in_use = slots_->held() == sizes_.slots;
  const ContextLookup lookup = slots_->look(op.qp, turn, read_room && fetch_free);
  std::size_t found = kLoading;
  if (lookup == ContextLookup::here) found = fresh_[op.qp] ? kFirstUse : kUsedAgain;
  if (lookup == ContextLookup::fetched) found = kFetched;
  if (lookup == ContextLookup::no_room) found = all_in_use ? kAllInUse : fetch_free ? kNoRead : kNotTaken;
  coverage.hit(points_.lookup, turn ? 0 : 1, found, kFound);
  if (lookup == ContextLookup::here) fresh_[op.qp] = false;
  if (lookup == ContextLookup::fetched) fetch_of_ = op.qp;
  const std::uint32_t slot = lookup == ContextLookup::here ? slots_->slot_of(op.qp) : 0;
  if (!turn) {
    expected[Seen::kPort].push_back(
        Seen{.qp = op.qp, .lookup = static_cast<std::uint64_t>(lookup), .slot = slot}.transfer());
    ++waiting_answers_;
    return;
  }
  turn_ended_ = true;
  expected[Turn::kPort].push_back(Turn{.qp = op.qp, .lookup = static_cast<std::uint64_t>(lookup)}.transfer());
  if (lookup != ContextLookup::here) {
    own_ = {lookup == ContextLookup::no_room ? ListOp::again : ListOp::park, op.qp};
    return;
  }
  expected[Grant::kPort].push_back(Grant{.qp = op.qp, .slot = slot, .quantum_bytes = quantum_}.transfer());
  has_grant_[op.qp] = true;
  ++waiting_grants_;
}

template <typename Compare>
void QpSchedulerModel::compare_outputs(const Dut& dut, const Compare& compare) const {
  const auto valid = [&](std::size_t port) { return dut.ports[port].valid.get(); };
  compare("turn_valid", turn_ended_, valid(Turn::kPort));
  compare("fetch_valid", fetch_waits_, valid(Fetch::kPort));
  if (!data_sheet_cycles) return;
  compare("grant_valid", waiting_grants_ > 0, valid(Grant::kPort));
  compare("seen_valid", waiting_answers_ > 0, valid(Seen::kPort));
}

std::optional<Difference> QpSchedulerModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) {
  const auto valid = [&](std::size_t port) { return dut.ports[port].valid.get() != 0; };
  const auto ready = [&](std::size_t port) { return dut.ports[port].ready.get() != 0; };
  enum State : std::size_t { kListed, kHeld, kPick, kOthers };
  const auto state = [&](State which) { return dut.state[which].pin.get(); };
  std::optional<Difference> first;
  const auto compare = [&](const char* what, std::uint64_t wanted, std::uint64_t actual) {
    if (wanted != actual && !first) first = Difference{what, wanted, actual};
  };
  // An event of this cycle: with ranges it may come later, but not where the reference does not allow it.
  const auto compare_allowed = [&](const char* what, std::uint64_t allowed, std::uint64_t actual) {
    if (data_sheet_cycles || actual > allowed) compare(what, allowed, actual);
  };
  const bool walking = walk_ > 0;
  if (walking) --walk_;
  const std::uint64_t waits = list_->size();
  compare("listed", waits, state(kListed));
  if (data_sheet_cycles || waits > 0) compare("others", waits > 0 || valid(Grant::kPort), state(kOthers));
  if (cycles_to_fetch_ > 0 && --cycles_to_fetch_ == 0) fetch_waits_ = true;
  compare_outputs(dut, compare);
  turn_ended_ = false;

  // The list: what was taken in the cycle before; then what a turn or a fill has led to is taken.
  if (next_on_list_) on_list(*next_on_list_);
  next_on_list_.reset();
  const bool own = own_.has_value();
  const bool returns = own && own_->op == ListOp::again;
  if (own) next_on_list_ = own_;
  own_.reset();

  // The contexts. In the last cycle before its fetch is offered, the slot was found.
  const bool choosing = fetch_of_ || cycles_to_fetch_ > 1;
  const bool occupied = fetch_of_ || cycles_to_fetch_ > 0;
  if (fetch_of_) begin_fetch(*fetch_of_, expected);
  fetch_of_.reset();
  const std::size_t grants = waiting_grants_;
  const std::size_t answers = waiting_answers_;
  const bool turn_in_stage = next_on_slots_ && next_on_slots_->op == SlotOp::turn;
  const bool look_in_stage = next_on_slots_ && next_on_slots_->op == SlotOp::look;
  const bool fetch_free = !valid(Fetch::kPort) || ready(Fetch::kPort);
  if (next_on_slots_) on_slots(*next_on_slots_, dut.constants[kReadRoom].pin.get() != 0, fetch_free, expected);
  next_on_slots_.reset();
  const bool open = !walking && !occupied && !fetch_of_;

  // Nothing waits without need.
  const bool quiet = open && !valid(Fill::kPort) && !valid(Drop::kPort);
  bool look_place = answers < (look_in_stage ? kPlaces - 1 : kPlaces);
  bool turn_place = grants < (turn_in_stage ? kPlaces - 1 : kPlaces);
  if (!data_sheet_cycles) {
    // How many answers and grants fit is the block's own matter.
    look_place = quiet && ready(Look::kPort);
    turn_place = true;
  }
  const bool picks = quiet && !(valid(Look::kPort) && look_place) && turn_place && !returns && waits > 0 &&
                     dut.constants[kRun].pin.get() != 0;
  compare_allowed("fill_ready", open, ready(Fill::kPort));
  compare_allowed("drop_ready", open && !valid(Fill::kPort), ready(Drop::kPort));
  compare_allowed("look_ready", quiet && look_place, ready(Look::kPort));
  compare_allowed("pick", picks, state(kPick));
  compare_allowed("back_ready", !walking && !own && !choosing, ready(Back::kPort));
  compare_allowed("act_ready", !walking && !own && (choosing || !valid(Back::kPort)), ready(Act::kPort));
  unpicked_cycles_ = picks && state(kPick) == 0 && grants == 0 ? unpicked_cycles_ + 1 : 0;
  if (unpicked_cycles_ > kMostUnpickedCycles) compare("pick", 1, 0);
  if (first || state(kPick) == 0) return first;
  const std::uint32_t qp = list_->pick().qp;
  next_on_slots_ = {SlotOp::turn, qp};
  listed_[qp] = false;
  has_turn_[qp] = true;
  coverage.hit(points_.beside, valid(Back::kPort) ? 1 : valid(Act::kPort) ? 0 : 2);
  return std::nullopt;
}

void QpSchedulerModel::begin_fetch(std::uint32_t qp, std::vector<std::vector<Transaction>>& expected) {
  const ContextSlots::Fetch fetch = slots_->begin_fetch(qp);
  coverage.hit(points_.eviction, fetch.evicted ? 1 : 0);
  // One cycle for each group of slots that the hand comes to, and two until the fetch is on the wires.
  const std::uint32_t group = std::min(sizes_.slots, kSlotsACycle);
  const std::uint32_t hand_in_group = (fetch.slot - fetch.passed) % group;
  cycles_to_fetch_ = (hand_in_group + fetch.passed) / group + 2;
  Transaction values =
      Fetch{.qp = qp, .slot = fetch.slot, .evicts = fetch.evicted.has_value(), .evicted_qp = fetch.evicted.value_or(0)}
          .transfer();
  expected[Fetch::kPort].push_back(std::move(values));
}

void QpSchedulerModel::hide(std::size_t port, const Transaction&, Transaction& values) const {
  // Whose context an empty slot held last is of no interest.
  if (port == Fetch::kPort && values[Fetch::kEvicts] == 0) values[Fetch::kEvictedQp] = 0;
}

}  // namespace mrc::cosim
