#include "nic/tx/spray_scheduler_rtl_path.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "fabric/topology.h"

namespace mrc {
namespace {

constexpr std::uint64_t kUpdateCycles = 4;

std::vector<NicPathTable*> tables_of(const NicContext& nic) {
  std::vector<NicPathTable*> tables;
  for (const Qp& qp : nic.qps) {
    if (qp.paths != nullptr && std::find(tables.begin(), tables.end(), qp.paths) == tables.end()) {
      tables.push_back(qp.paths);
    }
  }
  return tables;
}

}  // namespace

void SpraySchedulerRtlPath::attach(NicContext& nic) {
  if (const std::string& policy = nic.scenario.protocol.path_policy; policy != "rotation") {
    throw std::invalid_argument(fmt::format(
        "protocol.path_policy = {}: RTL of spray_scheduler does MRC's rotation only; allowed with it: rotation",
        policy));
  }
  if (nic.scenario.protocol.backups_return) {
    throw std::invalid_argument(
        "protocol.backups_return: RTL of spray_scheduler leaves backups in use; allowed with it: false");
  }
  nic_ = &nic;
  const std::vector<NicPathTable*> tables = tables_of(nic);
  credit_.assign(nic.config.nic.ports, 0);
  returned_.assign(nic.config.nic.ports, 0);
  engine_ = make_({static_cast<std::uint32_t>(tables.size()), nic.scenario.protocol.ev_count, nic.config.nic.ports});
  pins_ = std::make_unique<Pins>("spray_scheduler", *engine_);
  const EvProfile profile = ev_profile_of(nic.scenario, nic.node);
  const PathTable example(profile, nic.scenario.protocol, nic.config.nic.ports, {});
  engine_->configure(profile, example, [this](std::uint32_t slot) { return next_order(slot); });
  for (NicPathTable* table : tables) engine_->open(hold(*table), table->table().active_total());
}

std::uint32_t SpraySchedulerRtlPath::hold(NicPathTable& paths) {
  const auto slot = static_cast<std::uint32_t>(tables_.size());
  if (slot == engine_->sizes().tables) {
    throw std::invalid_argument(
        fmt::format("nic{} has more than {} path tables, for which RTL of spray_scheduler is built", nic_->node, slot));
  }
  nic_tables_.push_back(&paths);
  tables_.push_back(&paths.use_rtl(this));
  opened_.push_back(false);
  slots_.emplace(tables_[slot], slot);
  orders_.push_back(tables_[slot]->order_random());
  return slot;
}

void SpraySchedulerRtlPath::add(NicPathTable& paths) {
  if (slots_.contains(&paths.table())) return;
  const std::uint32_t slot = hold(paths);
  const PathTable& table = *tables_[slot];
  control(table, SprayItem::Kind::open, table.active_total());
  if (table.reachable() != ~0U) control(table, SprayItem::Kind::port_status, table.reachable() & 0xFF);
  for (EvIndex ev = 0; ev < table.size(); ++ev) {
    if (table.state(ev) == EvState::denied) control(table, SprayItem::Kind::deny, ev);
  }
}

SpraySchedulerRtlPath::~SpraySchedulerRtlPath() {
  for (NicPathTable* table : nic_tables_) table->use_rtl(nullptr);
}

std::span<const EvIndex> SpraySchedulerRtlPath::next_order(std::uint32_t slot) {
  if (opened_[slot]) {
    draw_scan_order(orders_[slot], tables_[slot]->size(), order_);
  } else {
    order_ = tables_[slot]->scan_order();
  }
  opened_[slot] = true;
  return order_;
}

void SpraySchedulerRtlPath::compare(const Place& place, std::string_view field, std::uint64_t expected,
                                    std::uint64_t actual) {
  if (expected == actual) return;
  const auto qp = std::find_if(nic_->qps.begin(), nic_->qps.end(), [&](const Qp& other) {
    return other.paths != nullptr && &other.paths->table() == &place.table;
  });
  const auto what = [&] { return fmt::format("transaction {} (QP {}, {})", transactions(), qp->number, place.what); };
  mismatch(nic_->node, nic_->clock.edge_index(place.now), what,
           fmt::format("{}: expected {:#x}, RTL gave {:#x}", field, expected, actual));
}

void SpraySchedulerRtlPath::begin_operation(TimePs now, std::uint64_t cycles) {
  const std::uint64_t cycle = nic_->clock.edge_index(now);
  if (cycle > free_cycle_) engine_->idle(cycle - free_cycle_);
  free_cycle_ = std::max(cycle, free_cycle_) + cycles;
}

SpraySelection SpraySchedulerRtlPath::select(Qp& qp, const Packet& packet, std::uint32_t bytes,
                                             std::span<const std::uint64_t> room, std::uint32_t free_ports,
                                             TimePs now) {
  PathTable& table = *tables_[slot_of(qp.paths->table())];
  SpraySelection expected;
  const std::uint64_t rotations = table.rotations();
  expected.ev = free_ports == 0 ? kNoEv : table.select(free_ports, now);
  expected.found = expected.ev != kNoEv;
  if (expected.found) {
    expected.value = table.value(expected.ev);
    expected.plane = table.plane(expected.ev);
  }
  expected.free_ports = free_ports;
  expected.no_good = !expected.found && !table.has_good(~0U);
  expected.rotations = static_cast<std::uint32_t>(table.rotations() - rotations);
  expected.skip_end = table.next_skip_end();

  return_room(room);
  if (by_pins()) {
    SprayAsk ask;
    ask.slot = slot_of(table);
    ask.now = now;
    ask.bytes = bytes;
    ask.ports_up = nic_->ports_up & 0xFF;
    ask.table = &table;
    ask.selection = expected;
    ask.psn = packet.psn;
    std::ranges::copy(returned_, ask.returned.begin());
    ask.any_returned = std::ranges::any_of(returned_, [](std::uint32_t returned) { return returned != 0; });
    if (expected.found) credit_[expected.plane] -= bytes;
    operations_.push_back(ask);
    return expected;
  }
  begin_operation(now, 0);
  engine_->return_credit(returned_);
  const SpraySelection actual = engine_->select(slot_of(table), bytes, nic_->ports_up & 0xFF, now);
  free_cycle_ += actual.occupied_cycles;
  if (actual.found) credit_[actual.plane] -= bytes;

  const bool same = compare_selection(table, packet.psn, bytes, now, expected, actual);
  if (!same && drives() && actual.found && actual.ev < table.size()) table.follow_selection(actual.ev);
  if (drives()) return actual;
  expected.latency_cycles = actual.latency_cycles;
  expected.occupied_cycles = actual.occupied_cycles;
  return expected;
}

void SpraySchedulerRtlPath::return_room(std::span<const std::uint64_t> room) {
  for (std::size_t plane = 0; plane < credit_.size(); ++plane) {
    returned_[plane] = static_cast<std::uint32_t>(room[plane] - std::min(room[plane], credit_[plane]));
    credit_[plane] += returned_[plane];
  }
}

bool SpraySchedulerRtlPath::compare_selection(const PathTable& table, Psn psn, std::uint32_t bytes, TimePs now,
                                              const SpraySelection& expected, const SpraySelection& actual) {
  const bool same = expected.ev == actual.ev && expected.value == actual.value && expected.plane == actual.plane &&
                    expected.free_ports == actual.free_ports && expected.no_good == actual.no_good &&
                    expected.rotations == actual.rotations && expected.skip_end == actual.skip_end;
  if (same) return true;
  const Place where{table, fmt::format("path of PSN {}, {} bytes", psn, bytes), now};
  compare(where, "free_ports", expected.free_ports, actual.free_ports);
  compare(where, "ev", expected.ev, actual.ev);
  compare(where, "value", expected.value, actual.value);
  compare(where, "plane", expected.plane, actual.plane);
  compare(where, "no_good", expected.no_good, actual.no_good);
  compare(where, "rotations", expected.rotations, actual.rotations);
  compare(where, "skip_end", expected.skip_end, actual.skip_end);
  return false;
}

bool SpraySchedulerRtlPath::compare_update(const PathTable& table, PathEvent event, TimePs now,
                                           const SprayUpdate& expected, const SprayUpdate& actual) {
  const bool same = actual.found && actual.ev == expected.ev && actual.state == expected.state &&
                    actual.active == expected.active && actual.held == expected.held &&
                    actual.reported == expected.reported && actual.backup == expected.backup;
  if (same) return true;
  const Place where{table, fmt::format("event {} of EV {}", static_cast<int>(event), expected.ev), now};
  compare(where, "found", 1, actual.found);
  compare(where, "ev", expected.ev, actual.ev);
  compare(where, "state", static_cast<std::uint64_t>(expected.state), static_cast<std::uint64_t>(actual.state));
  compare(where, "active", expected.active, actual.active);
  compare(where, "held", expected.held, actual.held);
  compare(where, "reported", expected.reported, actual.reported);
  compare(where, "backup", expected.backup, actual.backup);
  return false;
}

SprayItem SpraySchedulerRtlPath::update_item(const PathTable& table, EvIndex ev, PathEvent event, TimePs now) const {
  SprayItem item;
  item.kind = SprayItem::Kind::update;
  item.slot = slot_of(table);
  item.now = now;
  item.event = event;
  // What SACK and NACK say comes with the EV's value, what a timer says with its place.
  item.by_value = event != PathEvent::lost && event != PathEvent::probe_lost;
  item.ev = ev;
  item.value = table.value(ev);
  return item;
}

void SpraySchedulerRtlPath::report(PathTable& table, EvIndex ev, PathEvent event, TimePs now) {
  if (!by_pins()) count({}, {});
  const std::uint64_t held = table.held_at_floor();
  const std::uint64_t events = table.events();
  table.report(ev, event, now);
  const SprayUpdate expected{.found = true,
                             .ev = ev,
                             .state = table.state(ev),
                             .active = table.active(ev),
                             .reported = table.events() != events,
                             .held = table.held_at_floor() != held,
                             .backup = table.last_backup()};
  const SprayItem item = update_item(table, ev, event, now);
  if (by_pins()) {
    SprayAsk ask;
    static_cast<SprayItem&>(ask) = item;
    ask.table = &table;
    ask.changed = expected;
    operations_.push_back(ask);
    box_->wake_at(now);
    return;
  }
  begin_operation(now, kUpdateCycles);
  const SprayUpdate actual = item.by_value ? engine_->update_by_value(item.slot, item.value, event, now)
                                           : engine_->update(item.slot, ev, event, now);
  if (compare_update(table, event, now, expected, actual)) return;
  if (!drives() || !actual.found || actual.ev >= table.size()) return;
  table.follow_state(actual.ev, actual.state, actual.active);
  if (actual.backup < table.size()) table.follow_state(actual.backup, EvState::good, true);
}

void SpraySchedulerRtlPath::set_port_status(PathTable& table, std::uint32_t reachable_mask) {
  table.set_port_status(reachable_mask);
  control(table, SprayItem::Kind::port_status, reachable_mask & 0xFF);
}

void SpraySchedulerRtlPath::deny(PathTable& table, EvIndex ev) {
  table.deny(ev);
  control(table, SprayItem::Kind::deny, ev);
}

void SpraySchedulerRtlPath::allow(PathTable& table, EvIndex ev) {
  table.allow(ev);
  control(table, SprayItem::Kind::allow, ev);
}

void SpraySchedulerRtlPath::control(const PathTable& table, SprayItem::Kind kind, std::uint32_t what) {
  SprayAsk ask;
  ask.kind = kind;
  ask.slot = slot_of(table);
  ask.argument = what;
  if (by_pins()) {
    operations_.push_back(ask);
    return;
  }
  count({}, {});
  switch (kind) {
    case SprayItem::Kind::open:
      return engine_->open(ask.slot, what);
    case SprayItem::Kind::deny:
      return engine_->deny(ask.slot, what);
    case SprayItem::Kind::allow:
      return engine_->allow(ask.slot, what);
    default:
      return engine_->set_port_status(ask.slot, what);
  }
}

PinCycle SpraySchedulerRtlPath::clock(std::uint64_t cycle) {
  // While nothing was inside, orders went on coming in.
  if (cycle > free_cycle_) engine_->idle(cycle - free_cycle_);
  free_cycle_ = cycle + 1;
  if (pins_->is_free() && !operations_.empty()) {
    pins_->offer(operations_.front());
    operations_.pop_front();
  }
  const PinCycle pins = pins_->clock(cycle);
  if (pins_->was_occupied()) count_occupied();
  return pins;
}

bool SpraySchedulerRtlPath::conclude(std::uint64_t cycle) {
  const SprayAsk& ask = pins_->oldest();
  const bool goes = ask.goes;
  // The SystemC box takes no time for what is not a packet.
  count({0, ask.kind == SprayItem::Kind::select ? pins_->age_of_oldest(cycle) : 0}, ask.systemc);
  const SprayAnswer& answer = engine_->answer();
  if (ask.kind == SprayItem::Kind::select) {
    compare_selection(*ask.table, ask.psn, ask.bytes, ask.now, ask.selection, answer.selection);
  } else if (ask.kind == SprayItem::Kind::update) {
    compare_update(*ask.table, ask.event, ask.now, ask.changed, answer.update);
  }
  pins_->drop_oldest();
  return goes;
}

void SpraySchedulerRtlPath::compare_record(PathTable& table, EvIndex ev, TimePs now) {
  const SprayRecord record = engine_->read(slot_of(table), ev);
  const SprayRecord expected{table.state(ev), table.active(ev), table.position(ev), std::min(table.losses(ev), 15U),
                             table.probe_successes(ev)};
  if (record == expected) return;
  const Place where{table, fmt::format("state of EV {} at the end", ev), now};
  compare(where, "state", static_cast<std::uint64_t>(expected.state), static_cast<std::uint64_t>(record.state));
  compare(where, "active", expected.active, record.active);
  compare(where, "position", expected.position, record.position);
  compare(where, "losses", expected.losses, record.losses);
  compare(where, "probe_successes", expected.probe_successes, record.probe_successes);
}

void SpraySchedulerRtlPath::compare_state(TimePs now) {
  // What is still inside when the run ends, ring 1's tables have done.
  while (by_pins() && !is_idle()) {
    const std::uint64_t cycle = std::max(free_cycle_, nic_->clock.edge_index(now));
    if (clock(cycle).last_out) conclude(cycle);
  }
  for (PathTable* table : tables_) {
    for (EvIndex ev = 0; ev < table->size(); ++ev) compare_record(*table, ev, now);
    compare({*table, "state of the table at the end", now}, "pointer", table->pointer(),
            engine_->read_table(slot_of(*table)).pointer);
  }
}

}  // namespace mrc
