#include "engine/event_wheel.h"

#include <algorithm>

#include "engine/box.h"
#include "engine/recorder.h"

namespace mrc {

std::uint32_t EventWheel::add(Box& box) {
  const auto position = static_cast<std::uint32_t>(boxes_.size());
  boxes_.push_back(&box);
  if (position >> position_bits_ == 0) return position;
  // A new level has eight times as many leaves; what boxes have asked for already moves to where it belongs.
  std::vector<TimePs> armed(position, kNever);
  for (std::uint32_t i = 0; i < position; ++i) {
    if (keys_[first_leaf_ + i] != kNothing) armed[i] = keys_[first_leaf_ + i] >> position_bits_;
  }
  position_bits_ += 3;
  never_ = kNever >> position_bits_;
  first_leaf_ = first_child(first_leaf_);
  keys_.assign(first_leaf_ + (std::size_t{1} << position_bits_), kNothing);
  for (std::uint32_t i = 0; i < position; ++i) {
    if (armed[i] != kNever) arm(i, armed[i]);
  }
  return position;
}

void EventWheel::take_out(std::uint32_t position) {
  std::uint64_t* const keys = keys_.data();
  std::size_t node = first_leaf_ + position;
  keys[node] = kNothing;
  while (node != kRoot) {
    const std::uint64_t* const k = keys + node / 8 * 8;
    node = parent(node);
    keys[node] = std::min(std::min(std::min(k[0], k[1]), std::min(k[2], k[3])),
                          std::min(std::min(k[4], k[5]), std::min(k[6], k[7])));
  }
}

std::uint64_t EventWheel::run_before(TimePs horizon) {
  const std::uint64_t end = horizon << position_bits_;
  const std::uint64_t position_mask = (std::uint64_t{1} << position_bits_) - 1;
  std::uint64_t steps = 0;
  while (keys_[kRoot] < end) {
    const std::uint64_t first = keys_[kRoot];
    const TimePs time = first >> position_bits_;
    const auto position = static_cast<std::uint32_t>(first & position_mask);
    take_out(position);
    boxes_[position]->step(time);
    if (recorder_ != nullptr) recorder_->stepped(time);
    if (SameTimeBound::is_due(++steps) && same_time_.exceeded(time)) throw EndlessError(boxes_[position]->name(), time);
  }
  return steps;
}

}  // namespace mrc
