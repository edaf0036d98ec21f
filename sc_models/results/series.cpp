#include "results/series.h"

#include <utility>

namespace mrc {

std::size_t Series::add(Group group, std::string name, std::string state) {
  channels_.push_back({group, std::move(name), std::move(state), {}});
  return channels_.size() - 1;
}

void Series::sample(const std::vector<double>& row) {
  for (std::size_t i = 0; i < channels_.size(); ++i) channels_[i].values.push_back(row[i]);
  if (++points_ == kMostPoints) halve();
}

void Series::halve() {
  for (Channel& channel : channels_) {
    // A rate keeps its mean, a level its later sample.
    const bool rate = channel.group == Group::plane_goodput_gbps;
    for (std::size_t i = 0; i < points_ / 2; ++i) {
      const double first = channel.values[2 * i];
      const double second = channel.values[2 * i + 1];
      channel.values[i] = rate ? (first + second) / 2 : second;
    }
    channel.values.resize(points_ / 2);
  }
  points_ /= 2;
  step_us_ *= 2;
}

}  // namespace mrc
