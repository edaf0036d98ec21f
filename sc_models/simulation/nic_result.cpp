#include "simulation/nic_result.h"

#include <algorithm>
#include <array>
#include <utility>

#include "simulation/model.h"

namespace mrc {
namespace {

std::vector<BufferResult> collect_buffers(const SimulationNode& node, TimePs end) {
  std::vector<BufferResult> rows;
  for (const Occupancy* buffer : node.nic->buffers()) {
    rows.push_back({node.name, buffer->name(), buffer->unit(), buffer->capacity(), buffer->mean(end), buffer->p99(end),
                    buffer->high_water(), buffer->time_full_share(end), buffer->refusals()});
    for (const Occupancy::Bin& bin : buffer->histogram(end)) rows.back().histogram.push_back({bin.upper, bin.share});
  }
  return rows;
}

std::vector<LedgerResult> collect_ledger(const SimulationNode& node) {
  std::vector<LedgerResult> rows;
  const CauseTable& causes = node.nic->causes();
  for (const IssueSlot* slot : node.nic->slots()) {
    const double total = static_cast<double>(std::max<TimePs>(slot->accounted_ps(), 1));
    LedgerResult row{node.name,
                     slot->box(),
                     static_cast<double>(slot->busy_ps()) / total,
                     static_cast<double>(slot->starved_ps()) / total,
                     static_cast<double>(slot->idle_ps()) / total,
                     {}};
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const Cause cause = Cause::at(i);
      if (slot->blocked_ps(cause) > 0) {
        row.blocked[causes.name(cause)] = static_cast<double>(slot->blocked_ps(cause)) / total;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

template <typename Value>
void put(ByteWriter& to, const std::map<std::string, Value>& values) {
  to.put<std::uint64_t>(values.size());
  for (const auto& [name, value] : values) {
    to.put(name);
    to.put(value);
  }
}

template <typename Value>
void get(ByteReader& from, std::map<std::string, Value>& values) {
  for (auto n = from.get<std::uint64_t>(); n > 0; --n) {
    std::string name;
    from.get(name);
    from.get(values[name]);
  }
}

// Each part of a row, in one order for both ways.
template <typename Row, typename Visit>
void visit_buffer(Row& row, const Visit& visit) {
  visit(row.node);
  visit(row.name);
  visit(row.unit);
  visit(row.capacity);
  visit(row.mean);
  visit(row.p99);
  visit(row.high_water);
  visit(row.time_full_share);
  visit(row.refusals);
  visit(row.histogram);
}
template <typename Row, typename Visit>
void visit_event(Row& row, const Visit& visit) {
  visit(row.time_us);
  visit(row.what);
  visit(row.where);
  visit(row.effect);
}
template <typename Row, typename Visit>
void visit_account(Row& row, const Visit& visit) {
  visit(row.node);
  visit(row.part);
  visit(row.unit);
  visit(row.in);
  visit(row.out);
  visit(row.lost);
  visit(row.held);
}

}  // namespace

WriteSlotTime write_slot_time_of(const Nic& nic) {
  WriteSlotTime time;
  const CauseTable& causes = nic.causes();
  for (const IssueSlot* slot : nic.slots()) {
    if (slot->box() != "pcie_dma.write") continue;
    time.all_ps += slot->accounted_ps();
    time.busy_ps += slot->busy_ps();
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const TimePs blocked_ps = slot->blocked_ps(Cause::at(i));
      if (blocked_ps > 0) time.blocked_ps[causes.name(Cause::at(i))] += blocked_ps;
    }
  }
  return time;
}

std::map<std::string, std::uint64_t> overruns_of(const Nic& nic) {
  std::map<std::string, std::uint64_t> overruns;
  const PerCause<std::uint64_t>& by_cause = nic.overrun_causes().by_cause();
  for (std::size_t i = 0; i < nic.causes().size(); ++i) {
    if (by_cause[i] > 0) overruns[nic.causes().name(Cause::at(i))] = by_cause[i];
  }
  return overruns;
}

NicResult collect_nic(const SimulationNode& node, TimePs end) {
  NicResult result;
  node.nic->settle(end);
  result.buffers = collect_buffers(node, end);
  node.nic->finish(end);
  result.ledger = collect_ledger(node);
  result.pcie = node.nic->pcie().counts();
  for (const NicEvent& event : node.boxes->events) {
    result.events.push_back({us_from_ps(event.time), event.what, node.name + "." + event.where, event.effect});
  }
  result.accounts = node.nic->accounts();
  result.writes = write_slot_time_of(*node.nic);
  result.overruns = overruns_of(*node.nic);
  if (!node.owns_wheel) return result;
  result.box_steps = node.wheel->steps();
  result.kernel_activations = node.wheel->activations();
  return result;
}

void NicResult::put(ByteWriter& to) const {
  const auto each = [&to](const auto& value) { to.put(value); };
  to.put<std::uint64_t>(buffers.size());
  for (const BufferResult& row : buffers) visit_buffer(row, each);
  to.put<std::uint64_t>(ledger.size());
  for (const LedgerResult& row : ledger) {
    to.put(row.node);
    to.put(row.box);
    to.put(std::array{row.busy, row.starved, row.idle});
    mrc::put(to, row.blocked);
  }
  to.put(pcie);
  to.put<std::uint64_t>(events.size());
  for (const EventResult& row : events) visit_event(row, each);
  to.put<std::uint64_t>(accounts.size());
  for (const AccountResult& row : accounts) visit_account(row, each);
  to.put(std::array{box_steps, kernel_activations});
  to.put(std::array{writes.all_ps, writes.busy_ps});
  mrc::put(to, writes.blocked_ps);
  mrc::put(to, overruns);
}

void NicResult::get(ByteReader& from) {
  const auto each = [&from](auto& value) { from.get(value); };
  buffers.resize(from.get<std::uint64_t>());
  for (BufferResult& row : buffers) visit_buffer(row, each);
  ledger.resize(from.get<std::uint64_t>());
  for (LedgerResult& row : ledger) {
    from.get(row.node);
    from.get(row.box);
    from.get(row.busy);
    from.get(row.starved);
    from.get(row.idle);
    mrc::get(from, row.blocked);
  }
  from.get(pcie);
  events.resize(from.get<std::uint64_t>());
  for (EventResult& row : events) visit_event(row, each);
  accounts.resize(from.get<std::uint64_t>());
  for (AccountResult& row : accounts) visit_account(row, each);
  from.get(box_steps);
  from.get(kernel_activations);
  from.get(writes.all_ps);
  from.get(writes.busy_ps);
  mrc::get(from, writes.blocked_ps);
  mrc::get(from, overruns);
}

}  // namespace mrc
