// Between a box and a block that is clocked by its pins: what is offered and what is inside, cycle by cycle, and what
// the block takes for it. A block that is empty and ready is not clocked.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/pins_engine.h"
#include "engine/rtl_error.h"

namespace mrc {

/// `Entry` is derived from the item of `Engine`: with it, what the box has to know when its answer comes.
template <typename Engine, typename Entry>
class PinBridge {
 public:
  PinBridge(std::string_view block, Engine& engine) : block_(block), engine_(engine) {}

  /// Nothing is at the input.
  bool is_free() const { return !offered_; }
  /// From the next cycle on, until it is taken. Precondition: is_free().
  void offer(Entry entry) {
    items_.push_back({std::move(entry), 0});
    offered_ = true;
  }
  /// One item is inside or offered.
  bool holds_one() const { return items_.size() == 1; }
  /// Nothing is offered or inside, and the block is ready for more.
  bool is_idle() const { return items_.empty() && (!occupied_ || unready_cycles_ >= kMostUnreadyPinCycles); }

  /// Cycle number `cycle`. `held`: the source has no beat of what is offered in this cycle. `takes`: there is room for
  /// an answer. Throws RtlError where the block gives what it has not taken, or does not move any more.
  PinCycle clock(std::uint64_t cycle, bool held = false, bool takes = true) {
    const bool offers = offered_ && !held;
    engine_.begin_cycle(cycle);
    const PinCycle pins =
        engine_.clock(offers ? &items_.back().entry : nullptr, items_.empty() ? nullptr : &items_.front().entry, takes);
    if (pins.begun) items_.back().begun = cycle;
    note_occupied(pins, offers, held);
    within_ = (within_ || pins.begun) && !pins.taken;
    if (pins.taken) offered_ = false;
    if (pins.first_out || pins.last_out) check_output(pins);
    watch(pins);
    return pins;
  }

  /// The item whose first or last beat came out.
  Entry& oldest() { return items_.front().entry; }
  /// The item whose first beat was taken.
  Entry& newest() { return items_.back().entry; }
  /// Cycles since its first beat was taken.
  std::uint64_t age_of_oldest(std::uint64_t cycle) const { return cycle - items_.front().begun; }
  /// Its last beat came out, or none will.
  void drop_oldest() { items_.pop_front(); }
  /// In the latest cycle the input was occupied: by a beat, or because the block was not ready for the next item.
  bool was_occupied() const { return counted_; }

  /// `visit` sees each item that is offered or inside.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Item& item : items_) visit(item.entry);
  }
  /// `visit` sees each item of which something was taken.
  template <typename Visit>
  void for_each_inside(Visit visit) const {
    const std::size_t inside = items_.size() - (offered_ && !within_ ? 1 : 0);
    for (std::size_t i = 0; i < inside; ++i) visit(items_[i].entry);
  }

 private:
  struct Item {
    Entry entry;
    std::uint64_t begun;  ///< the cycle in which its first beat was taken
  };
  /// An item occupies the input from its first beat until the next item could be taken.
  void note_occupied(const PinCycle& pins, bool offers, bool held) {
    const bool within = within_ || pins.begun;
    const bool waits = !within && !pins.ready && (offers || occupied_);
    counted_ = (within && !held) || waits;
    occupied_ = within || waits;
    unready_cycles_ = pins.ready || offers ? 0 : unready_cycles_ + 1;
  }
  void check_output(const PinCycle& pins) const {
    const bool only_offered = items_.size() == 1 + pins.unanswered && offered_;
    if (items_.size() <= pins.unanswered || (only_offered && (pins.last_out || !within_))) {
      throw RtlError(fmt::format("{} RTL gives what it has not taken", block_));
    }
  }
  void watch(const PinCycle& pins) {
    const bool moves =
        pins.begun || pins.taken || pins.first_out || pins.last_out || pins.out_waits || pins.unanswered > 0;
    unmoved_cycles_ = moves || items_.empty() ? 0 : unmoved_cycles_ + 1;
    if (unmoved_cycles_ > kMostQuietPinCycles) {
      throw RtlError(fmt::format("{} RTL has not taken or given anything for {} cycles", block_, kMostQuietPinCycles));
    }
  }

  std::string_view block_;
  Engine& engine_;
  std::deque<Item> items_;  ///< the oldest first
  bool offered_ = false;    ///< the last of them, or what is left of it, is at the input
  bool within_ = false;     ///< its first beat was taken
  bool occupied_ = false;
  bool counted_ = false;
  std::uint64_t unready_cycles_ = 0;
  std::uint64_t unmoved_cycles_ = 0;
};

}  // namespace mrc
