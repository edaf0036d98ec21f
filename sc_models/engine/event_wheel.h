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

class EventWheel {
 public:
  /// Gives the box its position, which is its rank among ties; boxes are added while the model is built.
  std::uint32_t add(Box& box);

  /// Asks for a step of the box with `position` at `time` or earlier; a later request leaves the earlier one standing.
  void arm(std::uint32_t position, TimePs time) {
    Slot& slot = slots_[position];
    if (time >= slot.time) return;
    slot.time = time;
    if (slot.heap_index == kNotQueued) {
      slot.heap_index = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(position);
    }
    sift_up(slot.heap_index);
  }

  /// Steps everything that is due before `horizon`, in order of (time, position). Returns the number of steps.
  std::uint64_t run_before(TimePs horizon);

  /// `recorder` is told of each step.
  void record_to(Recorder& recorder) { recorder_ = &recorder; }

  /// Time of the earliest entry, kNever when nothing is armed.
  TimePs next_time() const { return heap_.empty() ? kNever : slots_[heap_.front()].time; }

 private:
  static constexpr std::uint32_t kNotQueued = 0xFFFF'FFFF;
  struct Slot {
    TimePs time = kNever;
    std::uint32_t heap_index = kNotQueued;
  };

  bool before(std::uint32_t a, std::uint32_t b) const {
    return slots_[a].time < slots_[b].time || (slots_[a].time == slots_[b].time && a < b);
  }
  void place(std::uint32_t index, std::uint32_t position) {
    heap_[index] = position;
    slots_[position].heap_index = index;
  }
  void sift_up(std::uint32_t index) {
    const std::uint32_t position = heap_[index];
    while (index > 0) {
      const std::uint32_t parent = (index - 1) / 2;
      if (!before(position, heap_[parent])) break;
      place(index, heap_[parent]);
      index = parent;
    }
    place(index, position);
  }
  void sift_down(std::uint32_t index);
  void pop_front();

  Recorder* recorder_ = nullptr;
  std::vector<Box*> boxes_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> heap_;
};

}  // namespace mrc
