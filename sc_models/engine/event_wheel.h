// The event queue behind a NIC's (or the fabric's) single kernel process. Each box has at most one entry, the earliest
// time that it requested; ties are ordered by the position of the box, so that the order does not depend on the order
// of requests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/same_time.h"
#include "mrc/types.h"

namespace mrc {

class Box;
class Recorder;

/// A tournament tree: one leaf per box, and each inner node is the earliest of its eight children. Arming a box and
/// removing its leaf for a step each follow one path, and neither has a branch that depends on the comparison of times,
/// which a heap has at every level.
class EventWheel {
 public:
  /// Gives the box its position, which is its rank among ties; boxes are added while the model is built.
  std::uint32_t add(Box& box);

  /// Asks for a step of the box with `position` at `time` or earlier; a later request does not replace an earlier one.
  /// Times beyond 2^64 ps / boxes, which is 20 hours with 256 boxes, are never reached.
  void arm(std::uint32_t position, TimePs time) {
    if (time >= never_) return;
    const std::uint64_t key = time << position_bits_ | position;
    std::uint64_t* const keys = keys_.data();
    for (std::size_t node = first_leaf_ + position; node != kRoot; node = parent(node)) {
      keys[node] = std::min(keys[node], key);
    }
    keys[kRoot] = std::min(keys[kRoot], key);
  }

  /// Steps everything that is due before `horizon`, in order of (time, position). Returns the number of steps. Throws
  /// EndlessError where the boxes wake each other at one time for ever.
  std::uint64_t run_before(TimePs horizon);

  /// `recorder` is notified of each step.
  void record_to(Recorder& recorder) { recorder_ = &recorder; }

  /// Time of the earliest entry, kNever when nothing is armed.
  TimePs next_time() const { return keys_[kRoot] == kNothing ? kNever : keys_[kRoot] >> position_bits_; }

 private:
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};

  /// Node n has the children 8 n + 8 … 8 n + 15, so that those of a node are in a row.
  static constexpr std::size_t kRoot = 0;
  static constexpr std::size_t parent(std::size_t node) { return node / 8 - 1; }
  static constexpr std::size_t first_child(std::size_t node) { return 8 * node + 8; }

  void take_out(std::uint32_t position);

  Recorder* recorder_ = nullptr;
  SameTimeBound same_time_;
  std::vector<Box*> boxes_;
  std::uint32_t position_bits_ = 0;
  TimePs never_ = kNever;  ///< first time that has no room above the position's bits
  std::size_t first_leaf_ = kRoot;
  std::vector<std::uint64_t> keys_ = {kNothing};  ///< by node: a time with the box's position below it
};

}  // namespace mrc
