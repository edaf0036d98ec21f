// Events that ack_coalescer has taken by its pins, until their SACK comes out or none can come any more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "cosim/ack_coalescer/transfers.h"

namespace mrc {

/// In the place of the causes of a SACK: there is none, a counter came out.
inline constexpr std::uint64_t kSackStored = rtl::SackCauses{.stored = 1}.word();

class EventsInside {
 public:
  struct Event {
    std::uint32_t slot = 0;
    Psn psn = 0;
    bool moves = false;        ///< a context: nobody waits for its answer
    std::uint32_t cycles = 0;  ///< since it was taken, but for those in which a SACK waited
  };

  /// `sack_cycles`: from an event to its SACK, at most.
  explicit EventsInside(std::uint32_t sack_cycles) : sack_cycles_(sack_cycles) {}

  void taken(const Event& event) { inside_.push_back(event); }
  /// A cycle in which no SACK waits. `sack` came out, null: none; `stored`: it is a counter. A SACK answers the first
  /// event inside with its slot and PSN, or the oldest where there is none; what is before that has no SACK, nor what
  /// has been inside for as long as a SACK may take. Returns how many these are, but for contexts.
  std::uint32_t answered(const ack_coalescer_ports::Sack* sack, bool stored) {
    for (Event& event : inside_) ++event.cycles;
    auto end =
        std::find_if(inside_.begin(), inside_.end(), [&](const Event& event) { return event.cycles < sack_cycles_; });
    if (sack != nullptr) {
      end = std::find_if(inside_.begin(), inside_.end(), [&](const Event& event) {
        return event.slot == sack->slot && event.moves == stored && (stored || event.psn == sack->psn);
      });
      if (end == inside_.end()) end = inside_.begin();
    }
    const auto unanswered = std::count_if(inside_.begin(), end, [](const Event& event) { return !event.moves; });
    if (sack != nullptr && end != inside_.end()) ++end;
    inside_.erase(inside_.begin(), end);
    return static_cast<std::uint32_t>(unanswered);
  }

 private:
  std::uint32_t sack_cycles_;
  std::deque<Event> inside_;  ///< the oldest first
};

}  // namespace mrc
