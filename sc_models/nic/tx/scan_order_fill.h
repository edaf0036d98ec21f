// When a new scan order of a path table is there, in the way of rtl/spray_scheduler: tables that hold two orders get
// the next one beside their packets. One order comes in at a time, an EV in each cycle in which no packet is taken or
// one of the same table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "mrc/ring.h"

namespace mrc {

class ScanOrderFill {
 public:
  /// A packet of `table` is taken in `cycle`, which does not go back. Returns the cycles that it waits beyond those of
  /// any packet; `new_orders`: scan orders of `evs` EVs that begin with it.
  std::uint64_t packet(const void* table, std::uint64_t cycle, std::uint64_t new_orders, std::uint64_t evs) {
    fill_until(cycle);
    if (!coming_.empty() && coming_.front().table == table) fill_until(cycle + 1);
    cycle_ = std::max(cycle_, cycle + 1);
    std::uint64_t waits = 0;
    for (std::uint64_t i = 0; i < new_orders; ++i) waits += new_order(table, cycle + waits, evs);
    return waits;
  }

 private:
  /// From the cycle in which an order's last EV comes in until the order can be walked, and the next one's first EV
  /// come in.
  static constexpr std::uint64_t kPlacingCycles = 2;

  struct Coming {
    const void* table;
    std::uint64_t evs;  ///< still to come
  };

  /// EVs come in in all cycles before `cycle` that are not counted yet.
  void fill_until(std::uint64_t cycle) {
    while (!coming_.empty() && cycle_ < cycle) {
      Coming& order = coming_.front();
      const std::uint64_t evs = std::min(cycle - cycle_, order.evs);
      order.evs -= evs;
      cycle_ += evs;
      if (order.evs > 0) return;
      ready_[order.table] = cycle_ - 1 + kPlacingCycles;
      cycle_ += kPlacingCycles - 1;
      coming_.pop();
    }
    cycle_ = std::max(cycle_, cycle);
  }
  /// The order that `cycle`'s packet needs is waited for, behind those of tables that asked before.
  std::uint64_t new_order(const void* table, std::uint64_t cycle, std::uint64_t evs) {
    const auto is_coming = [&] {
      for (std::uint64_t i = 0; i < coming_.size(); ++i) {
        if (coming_[i].table == table) return true;
      }
      return false;
    };
    cycle_ = std::max(cycle_, cycle + 2);
    while (is_coming()) fill_until(cycle_ + 1);
    const auto filled = ready_.find(table);
    const std::uint64_t ready = filled == ready_.end() ? 0 : filled->second;
    // Cycles of the block: the search that ends the rotation, its end, the wait, three until the first EV of the new
    // order has been searched.
    std::uint64_t waits = 1;
    if (ready == cycle + 2) waits = 4;
    if (ready > cycle + 2) waits = ready - cycle + 2;
    cycle_ = std::max(cycle_, cycle + (waits == 1 ? 2 : waits));
    coming_.push({table, evs});
    return waits;
  }

  Ring<Coming> coming_;
  std::unordered_map<const void*, std::uint64_t> ready_;  ///< cycle from which a table's next order can be walked
  std::uint64_t cycle_ = 0;                               ///< first in which an EV may still come in
};

}  // namespace mrc
