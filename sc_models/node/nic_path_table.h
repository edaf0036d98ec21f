// A path table in a NIC: ring 1's, and with RTL of spray_scheduler in the run the block's as well, which then hears of
// every change. Without RTL, a branch for each change.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mrc/control/path_table.h"

namespace mrc {

class SpraySchedulerRtlPath;

class NicPathTable {
 public:
  /// As PathTable's.
  NicPathTable(std::shared_ptr<const EvDirectory> evs, const ProtocolConfig& config, std::uint32_t planes,
               KeyedRandom random, std::unique_ptr<PathPolicy> policy = nullptr)
      : table_(std::move(evs), config, planes, random, std::move(policy)) {}

  const PathTable& table() const { return table_; }
  /// Changes go through `rtl`, which carries them out in the table that is returned; null: no longer.
  PathTable& use_rtl(SpraySchedulerRtlPath* rtl) {
    rtl_ = rtl;
    return table_;
  }

  void report(EvIndex ev, PathEvent event, TimePs now) {
    if (rtl_ != nullptr) return report_by_rtl(ev, event, now);
    table_.report(ev, event, now);
  }
  void set_port_status(std::uint32_t reachable_mask) {
    if (rtl_ != nullptr) return set_port_status_by_rtl(reachable_mask);
    table_.set_port_status(reachable_mask);
  }

  // As in PathTable.
  EvIndex select(std::uint32_t free_ports, TimePs now) { return table_.select(free_ports, now); }
  EvIndex find(Ev value) const { return table_.find(value); }
  Ev value(EvIndex ev) const { return table_.value(ev); }
  std::uint8_t plane(EvIndex ev) const { return table_.plane(ev); }
  std::uint32_t size() const { return table_.size(); }
  bool has_good(std::uint32_t ports) const { return table_.has_good(ports); }
  TimePs next_skip_end() const { return table_.next_skip_end(); }
  std::uint64_t rotations() const { return table_.rotations(); }
  std::uint64_t reshuffles() const { return table_.reshuffles(); }
  TimePs next_probe_time() const { return table_.next_probe_time(); }
  EvIndex take_due_probe(TimePs now) { return table_.take_due_probe(now); }
  void probe_not_sent(EvIndex ev) { table_.probe_not_sent(ev); }
  bool pop_event(EvEvent& event) { return table_.pop_event(event); }

  // What a controller does.
  void deny(EvIndex ev) {
    if (rtl_ != nullptr) return deny_by_rtl(ev);
    table_.deny(ev);
  }
  void allow(EvIndex ev) {
    if (rtl_ != nullptr) return allow_by_rtl(ev);
    table_.allow(ev);
  }
  /// Precondition: no RTL, for which the scenario's counts.
  void set_least_active(std::uint32_t evs) { table_.set_least_active(evs); }
  void copy_events(std::vector<EvEvent>& to) { table_.copy_events(to); }

 private:
  void report_by_rtl(EvIndex ev, PathEvent event, TimePs now);
  void set_port_status_by_rtl(std::uint32_t reachable_mask);
  void deny_by_rtl(EvIndex ev);
  void allow_by_rtl(EvIndex ev);

  SpraySchedulerRtlPath* rtl_ = nullptr;
  PathTable table_;
};

}  // namespace mrc
