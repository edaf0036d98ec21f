// Interface of a block that is clocked from outside, by its pins: a stream in and a stream out, each with valid and
// ready. An item is a transfer, or several: the beats of a packet. The Verilated RTL implements it.
#pragma once

#include <cstdint>

namespace mrc {

/// RTL with something inside that takes and gives nothing for more cycles has stopped (assumption).
inline constexpr std::uint64_t kMostQuietPinCycles = 100'000;
/// Of RTL that is empty and not ready it is not known when it could take more: its clock stops after these
/// (assumption).
inline constexpr std::uint64_t kMostUnreadyPinCycles = 64;

/// What happened at the pins in a cycle of the clock.
struct PinCycle {
  bool ready = false;            ///< of the input, whether or not something was offered
  bool begun = false;            ///< the first beat of what was offered was taken
  bool taken = false;            ///< its last beat was taken
  bool first_out = false;        ///< the first beat of the oldest item inside came out, and was taken
  bool last_out = false;         ///< its last beat came out
  bool out_waits = false;        ///< an answer is at the output and was not taken
  std::uint32_t unanswered = 0;  ///< of the oldest items inside: no answer will come; `out` is of the next one
};

template <typename Item, typename Answer>
class PinsEngine {
 public:
  virtual ~PinsEngine() = default;
  /// Before clock() in cycle number `cycle`: blocks that are joined in one model have this cycle together.
  virtual void begin_cycle(std::uint64_t /*cycle*/) {}
  /// A cycle in which the next beat of `offered` is at the input: the same item until it is taken; null: nothing.
  /// `oldest` is the item whose answer comes next: the oldest of those taken in, or the one offered; null: none.
  /// `takes`: what is at the output is taken.
  virtual PinCycle clock(const Item* offered, const Item* oldest, bool takes) = 0;
  /// What has come out for the oldest item so far; complete with last_out.
  virtual const Answer& answer() const = 0;
};

}  // namespace mrc
