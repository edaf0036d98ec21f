#include "results/series.h"

#include <algorithm>
#include <map>
#include <tuple>
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

void Series::put(ByteWriter& to) const {
  to.put<std::uint64_t>(channels_.size());
  for (const Channel& channel : channels_) {
    to.put(channel.group);
    to.put(channel.name);
    to.put(channel.state);
    to.put(channel.values);
  }
}

void Series::merge(ByteReader& from) {
  std::map<std::tuple<Group, std::string, std::string>, Channel*> known;
  for (Channel& channel : channels_) known[{channel.group, channel.name, channel.state}] = &channel;
  for (auto n = from.get<std::uint64_t>(); n > 0; --n) {
    Channel other{from.get<Group>(), {}, {}, {}};
    from.get(other.name);
    from.get(other.state);
    from.get(other.values);
    Channel& channel = *known.at({other.group, other.name, other.state});
    for (std::size_t i = 0; i < channel.values.size(); ++i) {
      channel.values[i] = std::max(channel.values[i], other.values.at(i));
    }
  }
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
