#include "simulation/nic_result.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
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

// What of a row travels, in one order for both ways.
template <typename Row>
auto fields_of(Row& row) {
  using Plain = std::remove_const_t<Row>;
  if constexpr (std::is_same_v<Plain, BufferResult>) {
    return std::tie(row.node, row.name, row.unit, row.capacity, row.mean, row.p99, row.high_water, row.time_full_share,
                    row.refusals, row.histogram);
  } else if constexpr (std::is_same_v<Plain, LedgerResult>) {
    return std::tie(row.node, row.box, row.busy, row.starved, row.idle, row.blocked);
  } else if constexpr (std::is_same_v<Plain, EventResult>) {
    return std::tie(row.time_us, row.what, row.where, row.effect);
  } else {
    static_assert(std::is_same_v<Plain, AccountResult>);
    return std::tie(row.node, row.part, row.unit, row.in, row.out, row.lost, row.held);
  }
}

template <typename Row>
void put_rows(ByteWriter& to, const std::vector<Row>& rows) {
  to.put<std::uint64_t>(rows.size());
  for (const Row& row : rows) std::apply([&](const auto&... field) { (to.put(field), ...); }, fields_of(row));
}

template <typename Row>
void get_rows(ByteReader& from, std::vector<Row>& rows) {
  rows.resize(from.get<std::uint64_t>());
  for (Row& row : rows) std::apply([&](auto&... field) { (from.get(field), ...); }, fields_of(row));
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
  put_rows(to, buffers);
  put_rows(to, ledger);
  put_rows(to, events);
  put_rows(to, accounts);
  to.put(pcie);
  to.put(box_steps);
  to.put(kernel_activations);
  to.put(writes.all_ps);
  to.put(writes.busy_ps);
  to.put(writes.blocked_ps);
  to.put(overruns);
}

void NicResult::get(ByteReader& from) {
  get_rows(from, buffers);
  get_rows(from, ledger);
  get_rows(from, events);
  get_rows(from, accounts);
  from.get(pcie);
  from.get(box_steps);
  from.get(kernel_activations);
  from.get(writes.all_ps);
  from.get(writes.busy_ps);
  from.get(writes.blocked_ps);
  from.get(overruns);
}

}  // namespace mrc
