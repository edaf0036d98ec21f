#include "node/path_drain.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mrc {

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

PathDrain::Table& PathDrain::table_of(NicPathTable* paths) {
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const Table& t) { return t.paths == paths; });
  if (found != tables_.end()) return *found;
  return tables_.emplace_back(Table{paths, std::vector<bool>(paths->size()), {}});
}

void PathDrain::look_for_paths() {
  for (Table& table : tables_) table.wanted.assign(table.paths->size(), false);
  // QPs to one peer may share a table, and so may peers.
  std::set<std::pair<const NicPathTable*, NodeId>> seen;
  for (const Qp& qp : nic_.qps) {
    if (qp.paths == nullptr || !seen.insert({qp.paths, qp.peer}).second) continue;
    Table& table = table_of(qp.paths);
    table.wanted.resize(qp.paths->size());
    for (EvIndex ev = 0; ev < qp.paths->size(); ++ev) {
      if (table.wanted[ev]) continue;
      table.wanted[ev] =
          timeline_->crosses(active_, nic_.node, qp.peer, qp.paths->plane(ev), qp.paths->value(ev));
    }
  }
}

std::uint32_t PathDrain::write() {
  std::uint32_t changed = 0;
  for (Table& table : tables_) {
    for (EvIndex ev = 0; ev < table.wanted.size(); ++ev) {
      if (table.wanted[ev] == table.denied[ev]) continue;
      // What other software has denied stays so.
      if (table.wanted[ev] && table.paths->table().state(ev) == EvState::denied) continue;
      if (table.wanted[ev]) {
        table.paths->deny(ev);
      } else {
        table.paths->allow(ev);
      }
      table.denied[ev] = table.wanted[ev];
      ++changed;
    }
  }
  return changed;
}

void PathDrain::due(TimePs now) {
  while (next() <= now) {
    const Change change = changes_[next_++];
    if (change.begins) {
      active_.push_back(change.fault);
    } else {
      std::erase(active_, change.fault);
    }
    look_for_paths();
    const std::uint32_t changed = write();
    steps_.push_back({.at = now,
                      .what = PortStatusStep::What::drained,
                      .up = !change.begins,
                      .count = changed,
                      .fault = change.fault});
    if (!change.begins && changed > 0 && after_allow_) after_allow_(now);
  }
}

}  // namespace mrc
