// When a new scan order of a path table is there, in the way of rtl/spray_scheduler: tables that hold two orders get the
// next one beside their packets. One order comes in at a time, an EV in each cycle in which no packet is taken or one of
// the same table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace mrc {

class ScanOrderFill {
 public:
  /// A packet of `table` is taken in `cycle`, which does not go back. Returns the cycles that it waits beyond those of
  /// any packet; `new_orders`: scan orders of `evs` EVs that begin with it.
  std::uint64_t packet(const void* table, std::uint64_t cycle, std::uint64_t new_orders, std::uint64_t evs) {
    idle_until(cycle);
    if (!coming_.empty() && coming_.front().table == table) place(1);
    cycle_ = cycle + 1;
    std::uint64_t waits = 0;
    for (std::uint64_t i = 0; i < new_orders; ++i) waits += new_order(table, evs);
    return waits;
  }

 private:
  /// Cycles of the block from a rotation's end until the first EV has been searched, where the order is there, and where
  /// it has been waited for.
  static constexpr std::uint64_t kSwapCycles = 1;
  static constexpr std::uint64_t kWaitCycles = 5;
  /// From an order's last EV until the order can be walked or the next one's first EV comes in.
  static constexpr std::uint64_t kPlacingCycles = 2;

  struct Coming {
    const void* table;
    std::uint64_t cycles;  ///< until it is there
  };

  void place(std::uint64_t cycles) {
    while (cycles > 0 && !coming_.empty()) {
      const std::uint64_t now = std::min(cycles, coming_.front().cycles);
      coming_.front().cycles -= now;
      cycles -= now;
      if (coming_.front().cycles == 0) coming_.pop_front();
    }
  }
  void idle_until(std::uint64_t cycle) {
    if (cycle > cycle_) place(cycle - cycle_);
    cycle_ = std::max(cycle, cycle_);
  }
  std::uint64_t new_order(const void* table, std::uint64_t evs) {
    // Orders of tables that asked before come in first.
    std::uint64_t missing = 0;
    std::uint64_t sum = 0;
    for (const Coming& order : coming_) {
      sum += order.cycles;
      if (order.table == table) missing = sum;
    }
    const std::uint64_t waits = missing == 0 ? kSwapCycles : missing + kWaitCycles;
    idle_until(cycle_ + missing);
    coming_.push_back({table, evs + kPlacingCycles});
    return waits;
  }

  std::deque<Coming> coming_;
  std::uint64_t cycle_ = 0;  ///< before which all is counted
};

}  // namespace mrc
