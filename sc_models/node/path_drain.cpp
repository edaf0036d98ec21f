#include "node/path_drain.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mrc {
namespace {

/// EVs of one path table.
struct TableEvs {
  NicPathTable* paths;
  std::vector<bool> crossing;
};

/// Of each table in the order of its first QP: the EVs whose path to one of its peers crosses one of `faults`.
std::vector<TableEvs> evs_that_cross(const NodeContext& nic, const FaultTimeline& timeline,
                                     const std::vector<std::uint32_t>& faults) {
  std::vector<TableEvs> tables;
  // QPs to one peer may share a table, and so may peers.
  std::set<std::pair<const NicPathTable*, NodeId>> seen;
  for (const Qp& qp : nic.qps) {
    if (qp.paths == nullptr || !seen.insert({qp.paths, qp.peer}).second) continue;
    auto table = std::find_if(tables.begin(), tables.end(), [&](const TableEvs& t) { return t.paths == qp.paths; });
    if (table == tables.end()) table = tables.insert(table, {qp.paths, std::vector<bool>(qp.paths->size())});
    for (EvIndex ev = 0; ev < qp.paths->size(); ++ev) {
      if (table->crossing[ev]) continue;
      table->crossing[ev] = timeline.crosses(faults, nic.node, qp.peer, qp.paths->plane(ev), qp.paths->value(ev));
    }
  }
  return tables;
}

}  // namespace

void PathDrain::follow(const FaultTimeline& timeline) {
  timeline_ = &timeline;
  for (std::uint32_t fault = 0; fault < timeline.size(); ++fault) {
    if (!timeline.is_drain(fault)) continue;
    const FaultRecord& record = timeline.record(fault);
    changes_.push_back({record.begins_at, fault, true});
    if (record.ends_at != kNever) changes_.push_back({record.ends_at, fault, false});
  }
  std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
}

std::uint32_t PathDrain::begin(std::uint32_t fault) {
  active_.push_back(fault);
  std::uint32_t written = 0;
  for (const TableEvs& table : evs_that_cross(nic_, *timeline_, {fault})) {
    for (EvIndex ev = 0; ev < table.crossing.size(); ++ev) {
      if (!table.crossing[ev]) continue;
      table.paths->deny(ev);
      ++written;
    }
  }
  return written;
}

std::uint32_t PathDrain::end(std::uint32_t fault) {
  std::erase(active_, fault);
  // Both lists have the same tables in the same order.
  const std::vector<TableEvs> denied = evs_that_cross(nic_, *timeline_, active_);
  const std::vector<TableEvs> allowed = evs_that_cross(nic_, *timeline_, {fault});
  std::uint32_t written = 0;
  for (std::size_t table = 0; table < allowed.size(); ++table) {
    for (EvIndex ev = 0; ev < allowed[table].crossing.size(); ++ev) {
      if (!allowed[table].crossing[ev] || denied[table].crossing[ev]) continue;
      allowed[table].paths->allow(ev);
      ++written;
    }
  }
  return written;
}

void PathDrain::due(TimePs now) {
  while (next() <= now) {
    const Change change = changes_[next_++];
    const std::uint32_t written = change.begins ? begin(change.fault) : end(change.fault);
    steps_.push_back({.at = now,
                      .what = PortStatusStep::What::drained,
                      .up = !change.begins,
                      .count = written,
                      .fault = change.fault});
    if (!change.begins && written > 0 && after_allow_) after_allow_(now);
  }
}

}  // namespace mrc
