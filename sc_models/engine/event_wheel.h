// The event queue behind a NIC's (or the fabric's) single kernel process. Each box has at most one entry, the earliest
// time it asked for; ties go by the box's position, so that the order never depends on who armed first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mrc/types.h"

namespace mrc {

class Box;
class Recorder;

/// A tournament: a leaf a box, each node above is the earlier of the two below it. A box that arms climbs only as far
/// as it wins, a box that is stepped takes its leaf out along one path, and neither has a branch that depends on whose
/// time is earlier, which a heap has at every level.
class EventWheel {
 public:
  /// Gives the box its position, which is its rank among ties; boxes are added while the model is built.
  std::uint32_t add(Box& box);

  /// Asks for a step of the box with `position` at `time` or earlier; a later request leaves the earlier one standing.
  /// What lies beyond 2^64 ps / boxes, which with 256 boxes is 20 hours, never comes.
  void arm(std::uint32_t position, TimePs time) {
    if (time >= kNever >> position_bits_) return;
    const std::uint64_t key = time << position_bits_ | position;
    for (std::size_t node = leaf(position); node > 0 && key < keys_[node]; node /= 2) keys_[node] = key;
  }

  /// Steps everything that is due before `horizon`, in order of (time, position). Returns the number of steps.
  std::uint64_t run_before(TimePs horizon);

  /// `recorder` is told of each step.
  void record_to(Recorder& recorder) { recorder_ = &recorder; }

  /// Time of the earliest entry, kNever when nothing is armed.
  TimePs next_time() const { return keys_[1] == kNothing ? kNever : keys_[1] >> position_bits_; }

 private:
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  std::size_t leaf(std::uint32_t position) const { return (std::size_t{1} << position_bits_) + position; }
  void take_out(std::uint32_t position);

  Recorder* recorder_ = nullptr;
  std::vector<Box*> boxes_;
  std::uint32_t position_bits_ = 0;
  /// Node 1 is the root, node n has the children 2 n and 2 n + 1. A key is a time with the box's position below it.
  std::vector<std::uint64_t> keys_ = {kNothing, kNothing};
};

}  // namespace mrc
