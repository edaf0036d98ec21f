// Drives every port of a Verilated spray_scheduler_flat at random, cycle by cycle, and compares all that it puts out
// with ring 1's path tables, to which every operation is applied in the order in which the block took it. Included only
// where a Verilated class is at hand.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <verilated.h>

#include "cosim/pin.h"
#include "cosim/spray_scheduler_adapter.h"
#include "mrc/random.h"

namespace mrc {

struct SpraySchedulerBenchResult {
  std::uint64_t transactions = 0;  ///< selections, updates and control operations that the block took
  std::uint64_t cycles = 0;
  std::uint64_t mismatches = 0;
  std::string first_mismatch;                 ///< cycle, operation, field, both values
  std::map<std::string, std::uint64_t> bins;  ///< functional coverage
};

template <typename Model>
class SpraySchedulerBench {
 public:
  SpraySchedulerBench(const SpraySizes& sizes, std::uint64_t seed)
      : sizes_(sizes), random_(seed, "spray_scheduler.bench"), context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed % 1'000'000 + 1));
    model_ = std::make_unique<Model>(context_.get());
    name_bins();
  }
  ~SpraySchedulerBench() { model_->final(); }

  /// Until the block has taken so many transactions, or something differs.
  SpraySchedulerBenchResult run(std::uint64_t transactions) {
    while (result_.transactions < transactions && result_.mismatches == 0) {
      begin();
      const std::uint64_t most = std::min(transactions, result_.transactions + 800 + random_.below(random_.chance(0.95) ? 2'500 : 20'000));
      while (result_.transactions < most && result_.mismatches == 0) {
        if (random_.chance(0.005)) choose_load();
        cycle();
      }
      draining_ = random_.chance(0.5);
      for (int i = 0; i < 2'000 && draining_ && waiting() && result_.mismatches == 0; ++i) cycle();
      draining_ = false;
      ++result_.bins[waiting() ? "reset with work under way" : "reset when idle"];
    }
    return result_;
  }

 private:
  static constexpr std::array<std::string_view, 11> kEvents{
      "DELIVERED", "ECN",        "ALWAYS_SKIP", "TRIMMED", "TRIMMED_LASTHOP", "LOST", "PROBE_DELIVERED",
      "PROBE_ECN", "PROBE_LOST", "DENY",        "ALLOW"};
  static constexpr std::array<std::string_view, 4> kStates{"GOOD", "SKIP", "ASSUMED_BAD", "DENIED"};
  static constexpr std::uint64_t kHang = 3'000;

  struct Operation {
    bool is_select = false, is_update = false;
    SprayCsr csr = SprayCsr::limits;
    std::uint32_t slot = 0, index = 0, bytes = 0, ports_up = 0;
    std::uint64_t word = 0;
    PathEvent event = PathEvent::delivered;
    bool by_value = false;
    Ev value = 0;
    TimePs time = 0;
  };
  /// What is to come out of a port: names and values of its fields, in the order in which they are looked at.
  using Fields = std::vector<std::pair<std::string_view, std::uint64_t>>;
  struct Answer {
    std::string operation;
    Fields fields;
  };

  void name_bins() {
    for (const std::string_view event : kEvents) {
      for (const std::string_view state : kStates) result_.bins[fmt::format("{} of a {} EV", event, state)] = 0;
    }
    for (const char* bin : {"path without a rotation",
                            "path by a new rotation",
                            "path after a new order",
                            "no port free",
                            "only busy ports",
                            "nothing GOOD",
                            "two rotations ended",
                            "SKIP EVs came back with the rotation",
                            "skipped backup came back",
                            "SKIP time over",
                            "several SKIP times over",
                            "backup took over",
                            "kept at the floor",
                            "revived",
                            "value in a later bucket",
                            "value unknown",
                            "oblivious",
                            "answer to a packet waits for ready",
                            "answer to an update waits for ready",
                            "control answer waits for ready",
                            "order waits",
                            "packet waits for a turn",
                            "update waits for a turn",
                            "packet back to back, same table",
                            "packet back to back, other table",
                            "room returned with a packet",
                            "room returned alone",
                            "room waits for a turn",
                            "packet and update at once",
                            "control at once with others",
                            "reset with work under way",
                            "reset when idle",
                            "removed while SKIP",
                            "rest_of_rotation",
                            "one_rotation",
                            "fixed_time"}) {
      result_.bins[bin] = 0;
    }
  }

  // ---- One life of the block, from reset to reset
  void begin() {
    put(model_->rst_ni, 0);
    for (auto* pin : {&model_->sel_valid_i, &model_->upd_valid_i, &model_->csr_valid_i, &model_->credit_valid_i,
                      &model_->order_valid_i}) {
      *pin = 0;
    }
    edge();
    edge();
    put(model_->rst_ni, 1);
    answers_[0].clear();
    answers_[1].clear();
    answers_[2].clear();
    select_.reset();
    update_.reset();
    control_.clear();
    held_ = {};
    orders_.clear();
    credit_offered_ = false;
    control_offered_ = false;
    order_offered_ = false;
    last_taken_ = Taken::none;
    due_ = Due::none;
    quiet_cycles_ = 0;
    ordered_ = 0;
    now_ = random_.next() >> (17 + random_.below(random_.chance(0.5) ? 4 : 40));
    configure();
    choose_load();
  }
  bool waiting() const {
    return select_ || update_ || !control_.empty() || !answers_[0].empty() || !answers_[1].empty() ||
           !answers_[2].empty();
  }

  void configure() {
    planes_ = static_cast<std::uint32_t>(1 + random_.below(sizes_.planes));
    config_ = {};
    config_.ev_count = planes_ * static_cast<std::uint32_t>(1 + random_.below(sizes_.evs / planes_));
    if (random_.chance(0.5)) config_.ev_count = sizes_.evs / planes_ * planes_;
    config_.ev_active = planes_ * static_cast<std::uint32_t>(1 + random_.below(config_.ev_count / planes_));
    config_.ev_min_active = random_.chance(0.5) ? 1 : static_cast<std::uint32_t>(random_.below(config_.ev_active + 1));
    constexpr std::array<std::uint32_t, 5> reshuffles{0, 1, 2, 3, 64};
    config_.reshuffle_rotations = reshuffles[random_.below(reshuffles.size())];
    config_.skip_duration = static_cast<SkipDuration>(random_.below(3));
    config_.skip_time_ps = 1 + random_.below(random_.chance(0.7) ? 400 : 1ULL << random_.below(45));
    config_.assumed_bad_losses = static_cast<std::uint32_t>(1 + random_.below(8));
    config_.probe_successes = static_cast<std::uint32_t>(1 + random_.below(random_.chance(0.9) ? 3 : 255));
    config_.probe_skip_state = static_cast<ProbeSkipState>(random_.below(2));
    config_.path_feedback = random_.chance(0.03) ? PathFeedback::oblivious : PathFeedback::adaptive;
    make_profile();
    constexpr std::array skip_names{"rest_of_rotation", "one_rotation", "fixed_time"};
    ++result_.bins[skip_names[static_cast<std::size_t>(config_.skip_duration)]];

    const auto tables = static_cast<std::uint32_t>(1 + random_.below(std::min(4U, sizes_.tables)));
    const std::uint64_t key = random_.next();
    tables_.clear();
    order_randoms_.clear();
    opened_.assign(tables, false);
    slots_.clear();
    for (std::uint32_t i = 0; i < tables; ++i) {
      tables_.push_back(std::make_unique<PathTable>(profile_, config_, planes_, KeyedRandom(key, i)));
      order_randoms_.push_back(tables_.back()->order_random());
      slots_.push_back((i + static_cast<std::uint32_t>(key)) % sizes_.tables);
    }
    room_.assign(sizes_.planes, 0);
    most_room_ = random_.chance(0.7) ? 60'000 : 200'000'000;
    control(SprayCsr::limits, 0, 0, spray_limits_word(*tables_[0]));
    control(SprayCsr::skip_time, 0, 0, config_.skip_time_ps);
    for (std::uint32_t i = 0; i < profile_.value.size(); ++i) {
      control(SprayCsr::profile, 0, i, std::uint64_t{profile_.plane[i]} << 32 | profile_.value[i]);
    }
    const std::vector<EvIndex> buckets = spray_buckets(profile_, 2 * sizes_.evs);
    for (std::uint32_t i = 0; i < buckets.size(); ++i) {
      control(SprayCsr::bucket, 0, i, buckets[i] == kNoEv ? 0 : sizes_.evs | buckets[i]);
    }
    for (std::uint32_t i = 0; i < tables; ++i) control(SprayCsr::open, i, 0, tables_[i]->active_total());
    set_up_ = control_.size();
  }
  /// Values whose low bits often meet in one bucket.
  void make_profile() {
    profile_ = {};
    const std::uint64_t spread = 1 + random_.below(4 * sizes_.evs);
    while (profile_.value.size() < config_.ev_count) {
      const auto value = static_cast<Ev>((random_.next() & ~(4ULL * sizes_.evs - 1)) | random_.below(spread));
      if (std::find(profile_.value.begin(), profile_.value.end(), value) != profile_.value.end()) continue;
      profile_.plane.push_back(static_cast<std::uint8_t>(profile_.value.size() % planes_));
      profile_.value.push_back(value);
    }
  }
  void choose_load() {
    for (double& p : offer_) p = random_.chance(0.4) ? 1.0 : random_.uniform();
    for (double& p : take_) p = random_.chance(0.5) ? 1.0 : 0.05 + 0.95 * random_.uniform();
    order_share_ = random_.chance(0.5) ? 1.0 : 0.1 + random_.uniform();
    room_share_ = random_.uniform();
    scarce_ = random_.chance(0.3);
    control_share_ = random_.chance(0.7) ? 0.02 : 0.2;
    favourite_share_ = random_.chance(0.7) ? 0.6 : 0.99;
    favourite_ = random_.chance(0.5) ? static_cast<int>(random_.below(9)) : -1;
    if (random_.chance(0.3)) offer_[1] *= 0.1;
  }

  // ---- A cycle
  void cycle() {
    drive();
    low();
    check_stability();
    const bool select_taken = select_ && model_->sel_ready_o != 0;
    const bool update_taken = update_ && model_->upd_ready_o != 0;
    const bool control_taken = control_offered_ && model_->csr_ready_o != 0;
    count_turns(select_taken, update_taken);
    check_turns(select_taken, update_taken);
    check_latency();
    if (model_->order_request_o != 0 && orders_.empty()) ask_for_order();
    if (credit_offered_ && model_->credit_ready_o != 0) take_credit(select_taken);
    if (control_taken) take_control();
    if (update_taken) take_update();
    if (select_taken) take_select();
    look_at_answers();
    const bool order_taken = model_->order_valid_i != 0 && model_->order_ready_o != 0;
    if (order_taken) {
      orders_.pop_front();
      order_offered_ = false;
    }
    watch_for_hang(select_taken || update_taken || control_taken, order_taken);
    high();
    if (select_taken) select_.reset();
    if (update_taken) update_.reset();
    if (control_taken) {
      control_.pop_front();
      control_offered_ = false;
      if (set_up_ > 0) --set_up_;
    }
  }
  void low() {
    model_->clk_i = 0;
    model_->eval();
  }
  void high() {
    model_->clk_i = 1;
    model_->eval();
    ++result_.cycles;
  }
  void edge() {
    low();
    high();
  }

  void drive() {
    now_ += random_.chance(0.001) ? random_.below(1ULL << random_.below(40)) : random_.below(8);
    if (set_up_ == 0 && !draining_) {
      if (!select_ && random_.chance(offer_[0])) offer_select();
      if (!update_ && random_.chance(offer_[1])) offer_update();
      if (control_.empty() && random_.chance(control_share_)) offer_control();
      if (!credit_offered_ && random_.chance(room_share_)) offer_credit();
    }
    put(model_->sel_valid_i, select_ ? 1 : 0);
    put(model_->upd_valid_i, update_ ? 1 : 0);
    put(model_->credit_valid_i, credit_offered_ ? 1 : 0);
    if (!control_.empty() && (control_offered_ || random_.chance(0.8))) {
      control_offered_ = true;
      const Operation& op = control_.front();
      put(model_->csr_op_i, static_cast<std::uint64_t>(op.csr));
      put(model_->csr_slot_i, slots_[op.slot]);
      put(model_->csr_index_i, op.index);
      put(model_->csr_wdata_i, op.word);
    }
    put(model_->csr_valid_i, control_offered_ ? 1 : 0);
    put(model_->rsp_ready_i, random_.chance(take_[0]) ? 1 : 0);
    put(model_->done_ready_i, random_.chance(take_[1]) ? 1 : 0);
    put(model_->csr_rready_i, random_.chance(take_[2]) ? 1 : 0);
    order_offered_ = !orders_.empty() && (order_offered_ || random_.chance(order_share_));
    put(model_->order_valid_i, order_offered_ ? 1 : 0);
    if (order_offered_) put(model_->order_ev_i, orders_.front());
  }
  std::uint32_t any_table() { return static_cast<std::uint32_t>(random_.below(tables_.size())); }
  void offer_select() {
    Operation op;
    op.is_select = true;
    op.slot = any_table();
    op.bytes = static_cast<std::uint32_t>(64 + random_.below(9'000));
    op.ports_up =
        static_cast<std::uint32_t>(random_.next() | random_.next() | random_.next()) & ((1U << sizes_.planes) - 1);
    op.time = now_;
    select_ = op;
    put(model_->sel_slot_i, slots_[op.slot]);
    put(model_->sel_bytes_i, op.bytes);
    put(model_->sel_ports_up_i, op.ports_up);
    put(model_->sel_time_i, op.time);
  }
  void offer_update() {
    Operation op;
    op.is_update = true;
    op.slot = any_table();
    op.index = static_cast<std::uint32_t>(random_.below(profile_.value.size()));
    if (random_.chance(0.3)) op.index %= 4;
    op.event = static_cast<PathEvent>(favourite_ >= 0 && random_.chance(favourite_share_) ? favourite_
                                                                             : static_cast<int>(random_.below(9)));
    op.by_value = random_.chance(0.5);
    op.value = profile_.value[op.index];
    op.time = now_;
    if (op.by_value && random_.chance(0.05)) {
      op.value = random_.chance(0.5) ? static_cast<Ev>(random_.next()) : op.value ^ 0x8000'0000U;
    }
    update_ = op;
    put(model_->upd_slot_i, slots_[op.slot]);
    put(model_->upd_event_i, static_cast<std::uint64_t>(op.event));
    put(model_->upd_by_value_i, op.by_value ? 1 : 0);
    // What does not count may be anything.
    put(model_->upd_ev_i, op.by_value ? random_.next() : op.index);
    put(model_->upd_value_i, op.by_value ? op.value : random_.next());
    put(model_->upd_time_i, op.time);
  }
  void offer_control() {
    constexpr std::array ops{SprayCsr::port_status, SprayCsr::deny,      SprayCsr::allow,    SprayCsr::read_ev,
                             SprayCsr::read_ev,     SprayCsr::read_slot, SprayCsr::read_room};
    const SprayCsr op = ops[random_.below(ops.size())];
    std::uint64_t word = random_.next();
    if (op == SprayCsr::port_status) word = (random_.next() | random_.next()) & ((1U << sizes_.planes) - 1);
    const std::uint64_t indices = op == SprayCsr::read_room ? sizes_.planes : profile_.value.size();
    control(op, any_table(), static_cast<std::uint32_t>(random_.below(indices)), word);
  }
  void control(SprayCsr op, std::uint32_t slot, std::uint32_t index, std::uint64_t word) {
    Operation operation;
    operation.csr = op;
    operation.slot = slot;
    operation.index = index;
    operation.word = word;
    control_.push_back(operation);
  }
  void offer_credit() {
    credit_offered_ = true;
    for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) {
      const bool some = plane < planes_ && random_.chance(0.5) && room_[plane] < most_room_;
      credit_[plane] = some ? static_cast<std::uint32_t>(random_.below(scarce_ ? 2'000 : most_room_ / 5)) : 0;
    }
    std::array<std::uint32_t, (8 * 28 + 31) / 32> words{};
    for (std::uint32_t at = 0; at < sizes_.planes * 28; ++at) {
      if ((credit_[at / 28] >> (at % 28) & 1) != 0) words[at / 32] |= 1U << (at % 32);
    }
    for (std::uint32_t word = 0; word < (sizes_.planes * 28 + 31) / 32; ++word)
      put_word(model_->credit_bytes_i, word, words[word]);
  }

  // ---- Ring 1 follows
  void take_credit(bool with_packet) {
    for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) room_[plane] += credit_[plane];
    credit_offered_ = false;
    ++result_.bins[with_packet ? "room returned with a packet" : "room returned alone"];
  }
  void take_select() {
    const Operation& op = *select_;
    PathTable& table = *tables_[op.slot];
    ++result_.transactions;
    std::uint32_t free = 0;
    for (std::uint32_t plane = 0; plane < sizes_.planes; ++plane) {
      if ((op.ports_up >> plane & 1) != 0 && room_[plane] >= op.bytes) free |= 1U << plane;
    }
    const std::uint64_t rotations = table.rotations();
    const std::uint64_t reshuffles = table.reshuffles();
    const std::uint32_t skipped = table.count(EvState::skip);
    const TimePs skip_end = table.next_skip_end();
    const std::uint32_t backups = inactive_skipped(table);
    const EvIndex ev = free == 0 ? kNoEv : table.select(free, op.time);
    const std::uint64_t ended = table.rotations() - rotations;
    const bool no_good = ev == kNoEv && !table.has_good(~0U);
    Answer answer{fmt::format("path of {} bytes, table {}, time {}", op.bytes, op.slot, op.time), {}};
    answer.fields = {{"free_ports", free}, {"found", ev != kNoEv}, {"rotations", ended}, {"no_good", no_good}};
    if (ev != kNoEv) {
      room_[table.plane(ev)] -= op.bytes;
      answer.fields.insert(answer.fields.end(), {{"ev", ev}, {"value", table.value(ev)}, {"plane", table.plane(ev)}});
    }
    const TimePs next = table.next_skip_end();
    answer.fields.push_back({"skip_end_valid", next != kNever});
    if (next != kNever) answer.fields.push_back({"skip_end", next});
    answers_[0].push_back(std::move(answer));

    const bool simple = ended < 2 && !no_good && table.reshuffles() == reshuffles &&
                        (skipped == table.count(EvState::skip) || (skip_end == kNever && backups == 0));
    if (free == 0 || simple) due_ = Due::select;
    if (free == 0)
      ++result_.bins["no port free"];
    else if (no_good)
      ++result_.bins["nothing GOOD"];
    else if (ev == kNoEv)
      ++result_.bins["only busy ports"];
    else if (ended == 0)
      ++result_.bins["path without a rotation"];
    else if (table.reshuffles() != reshuffles)
      ++result_.bins["path after a new order"];
    else
      ++result_.bins["path by a new rotation"];
    if (ended == 2) ++result_.bins["two rotations ended"];
    const std::uint32_t woken = skipped - table.count(EvState::skip);
    if (woken > 0 && ended > 0) ++result_.bins["SKIP EVs came back with the rotation"];
    if (woken > 0 && backups > 0) ++result_.bins["skipped backup came back"];
    if (woken > 0 && skip_end != kNever) ++result_.bins[woken > 1 ? "several SKIP times over" : "SKIP time over"];
    if (last_select_cycle_ + 1 == result_.cycles) {
      ++result_.bins[last_slot_ == op.slot ? "packet back to back, same table" : "packet back to back, other table"];
    }
    last_select_cycle_ = result_.cycles;
    last_slot_ = op.slot;
  }
  static std::uint32_t inactive_skipped(const PathTable& table) {
    std::uint32_t n = 0;
    for (EvIndex ev = 0; ev < table.size(); ++ev) n += table.state(ev) == EvState::skip && !table.active(ev) ? 1 : 0;
    return n;
  }
  void take_update() {
    const Operation& op = *update_;
    PathTable& table = *tables_[op.slot];
    ++result_.transactions;
    const EvIndex ev = op.by_value ? table.find(op.value) : static_cast<EvIndex>(op.index);
    Answer answer{fmt::format("{} of EV {}, table {}, time {}", kEvents[static_cast<std::size_t>(op.event)], ev,
                              op.slot, op.time),
                  {{"found", ev != kNoEv}}};
    if (ev == kNoEv) {
      ++result_.bins["value unknown"];
      answers_[1].push_back(std::move(answer));
      return;
    }
    if (op.by_value && later_bucket(ev)) ++result_.bins["value in a later bucket"];
    count_event(op.event, table.state(ev));
    const EvState before = table.state(ev);
    const std::uint64_t held = table.held_at_floor();
    const std::uint64_t events = table.events();
    table.apply(ev, op.event, op.time);
    const EvIndex backup = table.last_backup();
    answer.fields.insert(answer.fields.end(), {{"ev", ev},
                                               {"state", static_cast<std::uint64_t>(table.state(ev))},
                                               {"active", table.active(ev)},
                                               {"reported", table.events() != events},
                                               {"held", table.held_at_floor() != held},
                                               {"replaced", backup != kNoEv}});
    if (backup != kNoEv) answer.fields.push_back({"backup", backup});
    answers_[1].push_back(std::move(answer));
    const bool list_moves = before == EvState::skip && config_.skip_duration == SkipDuration::fixed_time;
    if (backup == kNoEv && !list_moves && !(op.by_value && later_bucket(ev))) due_ = Due::lookup;
    if (backup != kNoEv) ++result_.bins["backup took over"];
    if (table.held_at_floor() != held) ++result_.bins["kept at the floor"];
    if (table.events() != events && before == EvState::assumed_bad) ++result_.bins["revived"];
    if (table.events() != events && before == EvState::skip) ++result_.bins["removed while SKIP"];
    if (config_.path_feedback == PathFeedback::oblivious) ++result_.bins["oblivious"];
  }
  bool later_bucket(EvIndex ev) const {
    return spray_buckets(profile_, 2 * sizes_.evs)[profile_.value[ev] & (2 * sizes_.evs - 1)] != ev;
  }
  void count_event(PathEvent event, EvState state) {
    ++result_.bins[fmt::format("{} of a {} EV", kEvents[static_cast<std::size_t>(event)],
                               kStates[static_cast<std::size_t>(state)])];
  }
  void take_control() {
    const Operation& op = control_.front();
    PathTable& table = *tables_[op.slot];
    const auto ev = static_cast<EvIndex>(op.index);
    ++result_.transactions;
    std::uint64_t word = 0;
    Answer answer{fmt::format("control {}, table {}, index {}", static_cast<int>(op.csr), op.slot, op.index), {}};
    switch (op.csr) {
      case SprayCsr::port_status:
        table.apply_port_status(static_cast<std::uint32_t>(op.word));
        break;
      case SprayCsr::deny:
        ++result_.bins[fmt::format("DENY of a {} EV", kStates[static_cast<std::size_t>(table.state(ev))])];
        table.apply_deny(ev);
        break;
      case SprayCsr::allow:
        ++result_.bins[fmt::format("ALLOW of a {} EV", kStates[static_cast<std::size_t>(table.state(ev))])];
        table.apply_allow(ev);
        break;
      case SprayCsr::read_ev: {
        const auto ev_bits = static_cast<unsigned>(std::bit_width(sizes_.evs - 1));
        answer.fields = {{"position", table.position(ev)},
                         {"probe_successes", table.probe_successes(ev)},
                         {"losses", std::min(table.losses(ev), 15U)},
                         {"state", static_cast<std::uint64_t>(table.state(ev))},
                         {"active", table.active(ev)}};
        word = table.position(ev) | std::uint64_t{table.probe_successes(ev)} << ev_bits |
               std::uint64_t{std::min(table.losses(ev), 15U)} << (ev_bits + 8) |
               static_cast<std::uint64_t>(table.state(ev)) << (ev_bits + 12) | std::uint64_t{table.active(ev)} << 63;
        break;
      }
      case SprayCsr::read_room:
        word = room_[op.index];
        answer.operation = fmt::format("room of plane {}", op.index);
        break;
      case SprayCsr::read_slot: {
        const std::uint32_t reachable = table.reachable() & ((1U << sizes_.planes) - 1);
        const std::uint64_t period = config_.reshuffle_rotations == 0 ? 1U << 20 : config_.reshuffle_rotations;
        answer.fields = {
            {"pointer", table.pointer()}, {"reachable", reachable}, {"rotations", table.rotations() % period}};
        word = table.pointer() | std::uint64_t{reachable} << 16 | table.rotations() % period << 32;
        break;
      }
      default:
        break;
    }
    // What a denied or allowed EV was like is nobody's business.
    if (op.csr != SprayCsr::deny && op.csr != SprayCsr::allow) answer.fields.push_back({"word", word});
    if (select_ || update_) ++result_.bins["control at once with others"];
    answers_[2].push_back(std::move(answer));
  }
  void ask_for_order() {
    const std::uint32_t slot = model_->order_slot_o;
    const auto at = std::find(slots_.begin(), slots_.end(), slot);
    if (at == slots_.end()) return differ("order", "slot", slots_[0], slot);
    const auto table = static_cast<std::size_t>(at - slots_.begin());
    if (opened_[table]) {
      draw_scan_order(order_randoms_[table], profile_.value.size(), order_);
    } else {
      order_ = tables_[table]->scan_order();
    }
    opened_[table] = true;
    orders_.assign(order_.begin(), order_.end());
  }

  // ---- What comes out
  void look_at_answers() {
    if (model_->rsp_valid_o != 0 && model_->rsp_ready_i != 0) {
      compare(0, {{"free_ports", model_->rsp_free_ports_o},
                  {"found", model_->rsp_found_o},
                  {"rotations", model_->rsp_rotations_o},
                  {"no_good", model_->rsp_no_good_o},
                  {"ev", model_->rsp_ev_o},
                  {"value", model_->rsp_value_o},
                  {"plane", model_->rsp_plane_o},
                  {"skip_end_valid", model_->rsp_skip_end_valid_o},
                  {"skip_end", model_->rsp_skip_end_o}});
    }
    if (model_->done_valid_o != 0 && model_->done_ready_i != 0) {
      compare(1, {{"found", model_->done_found_o},
                  {"ev", model_->done_ev_o},
                  {"state", model_->done_state_o},
                  {"active", model_->done_active_o},
                  {"reported", model_->done_reported_o},
                  {"held", model_->done_held_o},
                  {"replaced", model_->done_replaced_o},
                  {"backup", model_->done_backup_o}});
    }
    if (model_->csr_rvalid_o != 0 && model_->csr_rready_i != 0) {
      const std::uint64_t word = model_->csr_rdata_o;
      const auto ev_bits = static_cast<unsigned>(std::bit_width(sizes_.evs - 1));
      compare(2, {{"position", word & (sizes_.evs - 1)},
                  {"probe_successes", word >> ev_bits & 0xFF},
                  {"losses", word >> (ev_bits + 8) & 0xF},
                  {"state", word >> (ev_bits + 12) & 3},
                  {"active", word >> 63},
                  {"pointer", word & 0xFFFF},
                  {"reachable", word >> 16 & 0xFFFF},
                  {"rotations", word >> 32 & 0xF'FFFF},
                  {"word", word}});
    }
    if (model_->rsp_valid_o != 0 && model_->rsp_ready_i == 0) ++result_.bins["answer to a packet waits for ready"];
    if (model_->done_valid_o != 0 && model_->done_ready_i == 0) ++result_.bins["answer to an update waits for ready"];
    if (model_->csr_rvalid_o != 0 && model_->csr_rready_i == 0) ++result_.bins["control answer waits for ready"];
    if (model_->order_request_o != 0 && model_->order_valid_i == 0) ++result_.bins["order waits"];
  }
  /// Of an answer only those fields count that mean something in it.
  void compare(std::size_t port, const Fields& actual) {
    if (answers_[port].empty()) return differ("an answer that nothing asked for", "valid", 0, 1);
    const Answer expected = std::move(answers_[port].front());
    answers_[port].pop_front();
    for (const auto& [name, value] : expected.fields) {
      const auto field =
          std::find_if(actual.begin(), actual.end(), [&](const auto& other) { return other.first == name; });
      if (field->second != value) differ(expected.operation, name, value, field->second);
    }
  }
  void differ(const std::string& operation, std::string_view field, std::uint64_t expected, std::uint64_t actual) {
    if (result_.mismatches++ > 0) return;
    result_.first_mismatch = fmt::format("cycle {}, transaction {}, {}: {}: expected {:#x}, RTL gave {:#x}",
                                         result_.cycles, result_.transactions, operation, field, expected, actual);
  }
  /// What is offered and not taken must still be there, unchanged.
  void check_stability() {
    const std::array<Fields, 3> out{Fields{{"rsp_valid", model_->rsp_valid_o},
                                           {"rsp_found", model_->rsp_found_o},
                                           {"rsp_ev", model_->rsp_ev_o},
                                           {"rsp_value", model_->rsp_value_o},
                                           {"rsp_plane", model_->rsp_plane_o},
                                           {"rsp_free_ports", model_->rsp_free_ports_o},
                                           {"rsp_no_good", model_->rsp_no_good_o},
                                           {"rsp_rotations", model_->rsp_rotations_o},
                                           {"rsp_skip_end", model_->rsp_skip_end_o}},
                                    Fields{{"done_valid", model_->done_valid_o},
                                           {"done_ev", model_->done_ev_o},
                                           {"done_state", model_->done_state_o},
                                           {"done_active", model_->done_active_o},
                                           {"done_held", model_->done_held_o},
                                           {"done_reported", model_->done_reported_o},
                                           {"done_replaced", model_->done_replaced_o},
                                           {"done_backup", model_->done_backup_o},
                                           {"done_found", model_->done_found_o}},
                                    Fields{{"csr_rvalid", model_->csr_rvalid_o}, {"csr_rdata", model_->csr_rdata_o}}};
    const std::array<bool, 3> stays{model_->rsp_valid_o != 0 && model_->rsp_ready_i == 0,
                                    model_->done_valid_o != 0 && model_->done_ready_i == 0,
                                    model_->csr_rvalid_o != 0 && model_->csr_rready_i == 0};
    for (std::size_t port = 0; port < 3; ++port) {
      for (std::size_t i = 0; held_[port] && i < out[port].size(); ++i) {
        if (out[port][i].second == (*held_[port])[i].second) continue;
        differ("an answer that was not taken changed", out[port][i].first, (*held_[port])[i].second,
               out[port][i].second);
      }
      held_[port].reset();
      if (stays[port]) held_[port] = out[port];
    }
  }
  void count_turns(bool select_taken, bool update_taken) {
    if (select_ && !select_taken) ++result_.bins["packet waits for a turn"];
    if (update_ && !update_taken) ++result_.bins["update waits for a turn"];
    if (select_ && update_ && (select_taken || update_taken)) ++result_.bins["packet and update at once"];
    if (credit_offered_ && model_->credit_ready_o == 0) ++result_.bins["room waits for a turn"];
  }
  /// Packets and updates that are both there go in turn.
  void check_turns(bool select_taken, bool update_taken) {
    if (select_ && update_ && (select_taken || update_taken) && last_taken_ != Taken::none) {
      const bool select_due = last_taken_ == Taken::update;
      if (select_due != select_taken) differ("turns of packets and updates", "packet taken", select_due, select_taken);
    }
    if (select_taken) last_taken_ = Taken::select;
    if (update_taken) last_taken_ = Taken::update;
  }
  /// The answer to a packet or an update that is not held up comes when the data sheet says.
  void check_latency() {
    const bool rsp_free = model_->rsp_valid_o == 0 || model_->rsp_ready_i != 0;
    const bool done_free = model_->done_valid_o == 0 || model_->done_ready_i != 0;
    if (due_ == Due::select_now) {
      if (model_->rsp_valid_o == 0) differ("a packet that nothing holds up", "rsp_valid", 1, 0);
      due_ = Due::none;
    } else if (due_ == Due::update_now) {
      if (model_->done_valid_o == 0) differ("an update that nothing holds up", "done_valid", 1, 0);
      due_ = Due::none;
    } else if (due_ == Due::select && rsp_free) {
      due_ = Due::select_now;
    } else if (due_ == Due::lookup) {
      due_ = Due::update;
    } else if (due_ == Due::update && done_free) {
      due_ = Due::update_now;
    }
  }
  /// Nothing moves, or only orders do, more than any table has EVs.
  void watch_for_hang(bool moved, bool order_moved) {
    ordered_ = moved ? 0 : ordered_ + (order_moved ? 1 : 0);
    quiet_cycles_ = moved || order_moved || !waiting() ? 0 : quiet_cycles_ + 1;
    if (quiet_cycles_ > kHang || ordered_ > 8 * sizes_.evs) differ("the block hangs", "ready", 1, 0);
  }

  SpraySizes sizes_;
  KeyedRandom random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  SpraySchedulerBenchResult result_;

  std::uint32_t planes_ = 1;
  ProtocolConfig config_;
  EvProfile profile_;
  std::vector<std::unique_ptr<PathTable>> tables_;
  std::vector<KeyedRandom> order_randoms_;
  std::vector<bool> opened_;
  std::vector<std::uint32_t> slots_;  ///< of the block, by table
  std::vector<std::uint64_t> room_;
  std::uint64_t most_room_ = 60'000;
  std::vector<EvIndex> order_;
  std::deque<EvIndex> orders_;  ///< what is left of the order that goes in
  bool order_offered_ = false;

  std::array<double, 2> offer_{};
  std::array<double, 3> take_{};
  double order_share_ = 1;
  double room_share_ = 1;
  bool scarce_ = false;
  double control_share_ = 0.02;
  double favourite_share_ = 0.6;
  int favourite_ = -1;

  TimePs now_ = 0;
  std::optional<Operation> select_;
  std::optional<Operation> update_;
  std::deque<Operation> control_;
  bool draining_ = false;
  enum class Taken { none, select, update } last_taken_ = Taken::none;
  enum class Due { none, select, select_now, lookup, update, update_now } due_ = Due::none;
  std::size_t set_up_ = 0;  ///< of them still to come before packets may
  bool control_offered_ = false;
  bool credit_offered_ = false;
  std::array<std::uint32_t, 8> credit_{};
  std::array<std::deque<Answer>, 3> answers_;
  std::array<std::optional<Fields>, 3> held_;
  std::uint64_t quiet_cycles_ = 0;
  std::uint64_t ordered_ = 0;  ///< EVs that went in since an operation was taken
  std::uint64_t last_select_cycle_ = 0;
  std::uint32_t last_slot_ = 0;
};

}  // namespace mrc
