// When a packet has its path, in the way of rtl/spray_scheduler: one packet is at work at a time, and the end of a
// rotation keeps those behind it waiting. Tables that hold two scan orders get the next one beside their packets,
// tables that hold one while a packet waits. One order comes in at a time, an EV per cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace mrc {

class ScanOrderFill {
 public:
  /// `order_buffers`: scan orders that a table holds.
  explicit ScanOrderFill(std::uint32_t order_buffers = 2) : order_buffers_(order_buffers) {}

  struct Packet {
    const void* table;
    std::uint64_t cycle;       ///< in which it is taken; does not go back
    std::uint64_t interval;    ///< until the next, where nothing ends
    std::uint64_t rotations;   ///< that end with it
    std::uint64_t new_orders;  ///< of `evs` EVs that begin with it
    std::uint64_t evs;
  };
  /// Cycles beyond those of any packet.
  struct Waits {
    std::uint64_t before = 0;  ///< until its work begins, and the next packet can be taken
    std::uint64_t within = 0;  ///< from then on until it has its path
  };
  Waits packet(const Packet& of) {
    const std::uint64_t begin = std::max(of.cycle, free_);
    // The search that ends the rotation is over.
    std::uint64_t cycle = begin + kSearched;
    for (std::uint64_t i = 0; i < of.new_orders; ++i) cycle = new_order(of.table, cycle, of.evs);
    cycle += (of.rotations - std::min(of.rotations, of.new_orders)) * kRotation;
    const std::uint64_t within = cycle - begin - kSearched;
    free_ = begin + of.interval + within;
    return {begin - of.cycle, within};
  }

 private:
  /// From the acceptance of a packet until the end of its search.
  static constexpr std::uint64_t kSearched = 4;
  /// End of a rotation, SKIP EVs come back, another search.
  static constexpr std::uint64_t kRotation = 4;
  /// The same with a new order that is there: until it is walked, and from then on.
  static constexpr std::uint64_t kOrderBegins = 1;
  static constexpr std::uint64_t kOrderSearched = 6;
  /// From a new order's begin until the next is asked for; from then on until that is there, besides one cycle per EV.
  static constexpr std::uint64_t kAsked = 2;
  static constexpr std::uint64_t kFilled = 4;

  /// `cycle`: the first after the search that ends the rotation. Returns that after the next search.
  std::uint64_t new_order(const void* table, std::uint64_t cycle, std::uint64_t evs) {
    std::uint64_t& ready = ready_[table];
    if (order_buffers_ == 1) {
      ready = std::max(cycle + 1, filled_) + kFilled + evs;
      filled_ = ready;
    }
    const std::uint64_t begins = std::max(cycle + kOrderBegins, ready);
    if (order_buffers_ > 1) {
      ready = std::max(begins + kAsked, filled_) + kFilled + evs;
      filled_ = ready;
    }
    return begins + kOrderSearched;
  }

  std::uint32_t order_buffers_;
  std::uint64_t free_ = 0;                                ///< cycle from which a packet begins at once
  std::unordered_map<const void*, std::uint64_t> ready_;  ///< cycle from which a table's next order can be walked
  std::uint64_t filled_ = 0;                              ///< cycle from which the next order can come in
};

}  // namespace mrc
