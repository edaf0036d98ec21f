#include "engine/event_wheel.h"

#include <algorithm>

#include "engine/box.h"
#include "engine/recorder.h"

namespace mrc {

std::uint32_t EventWheel::add(Box& box) {
  const auto position = static_cast<std::uint32_t>(boxes_.size());
  boxes_.push_back(&box);
  if (position >> position_bits_ == 0) return position;
  // A new level doubles the leaves; what boxes have asked for already moves to where it belongs.
  std::vector<TimePs> armed(position, kNever);
  for (std::uint32_t i = 0; i < position; ++i) {
    if (keys_[leaf(i)] != kNothing) armed[i] = keys_[leaf(i)] >> position_bits_;
  }
  ++position_bits_;
  keys_.assign(std::size_t{2} << position_bits_, kNothing);
  for (std::uint32_t i = 0; i < position; ++i) {
    if (armed[i] != kNever) arm(i, armed[i]);
  }
  return position;
}

void EventWheel::take_out(std::uint32_t position) {
  std::uint64_t* const keys = keys_.data();
  std::size_t node = leaf(position);
  std::uint64_t first = keys[node] = kNothing;
  for (; node > 1; node /= 2) {
    first = std::min(first, keys[node ^ 1]);
    keys[node / 2] = first;
  }
}

std::uint64_t EventWheel::run_before(TimePs horizon) {
  const std::uint64_t end = horizon << position_bits_;
  const std::uint64_t position_mask = (std::uint64_t{1} << position_bits_) - 1;
  std::uint64_t steps = 0;
  while (keys_[1] < end) {
    const TimePs time = keys_[1] >> position_bits_;
    const auto position = static_cast<std::uint32_t>(keys_[1] & position_mask);
    take_out(position);
    boxes_[position]->step(time);
    if (recorder_ != nullptr) recorder_->stepped(time);
    if (SameTimeBound::is_due(++steps) && same_time_.exceeded(time)) throw EndlessError(boxes_[position]->name(), time);
  }
  return steps;
}

}  // namespace mrc
