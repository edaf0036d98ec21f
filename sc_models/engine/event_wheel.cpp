#include "engine/event_wheel.h"

#include "engine/box.h"
#include "engine/recorder.h"

namespace mrc {

std::uint32_t EventWheel::add(Box& box) {
  boxes_.push_back(&box);
  slots_.emplace_back();
  heap_.reserve(boxes_.size());
  return static_cast<std::uint32_t>(boxes_.size() - 1);
}

void EventWheel::sift_down(std::uint32_t index) {
  const std::uint32_t position = heap_[index];
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    std::uint32_t child = 2 * index + 1;
    if (child >= size) break;
    if (child + 1 < size && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], position)) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, position);
}

void EventWheel::pop_front() {
  Slot& first = slots_[heap_.front()];
  first.time = kNever;
  first.heap_index = kNotQueued;
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  heap_.front() = last;
  slots_[last].heap_index = 0;
  sift_down(0);
}

std::uint64_t EventWheel::run_before(TimePs horizon) {
  std::uint64_t steps = 0;
  while (!heap_.empty()) {
    const std::uint32_t position = heap_.front();
    const TimePs time = slots_[position].time;
    if (time >= horizon) break;
    pop_front();
    boxes_[position]->step(time);
    if (recorder_ != nullptr) recorder_->stepped(time);
    ++steps;
  }
  return steps;
}

}  // namespace mrc
