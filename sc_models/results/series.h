// Quantities over time, at most 2,000 points each: when more come, neighbours are joined and the step doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/byte_stream.h"

namespace mrc {

class Series {
 public:
  static constexpr std::size_t kMostPoints = 2'000;

  enum class Group : std::uint8_t { plane_goodput_gbps, buffer_occupancy, ev_states, queue_bytes };
  struct Channel {
    Group group;
    std::string name;   ///< plane number, "nic0.rx_staging", "nic0", "t0.0.port1"
    std::string state;  ///< of ev_states
    std::vector<double> values;
  };

  explicit Series(double step_us) : step_us_(step_us) {}

  /// Channels are added before the first sample. Returns the channel's position in the rows given to sample().
  std::size_t add(Group group, std::string name, std::string state = "");
  /// One value a channel, `step_us()` after the last.
  void sample(const std::vector<double>& row);

  // Of a run on several ranks: each samples what it has, and 0 for the rest.
  void put(ByteWriter& to) const;
  /// Takes the larger of each value, sampled at the same times elsewhere.
  void merge(ByteReader& from);

  double step_us() const { return step_us_; }
  const std::vector<Channel>& channels() const { return channels_; }

 private:
  void halve();

  double step_us_;
  std::size_t points_ = 0;
  std::vector<Channel> channels_;
};

}  // namespace mrc
