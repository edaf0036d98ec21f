// The streams of the accelerators behind one host: computations of a stream run one after another, each after its
// launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "host/workload.h"
#include "parameters/config.h"

namespace mrc {

class Accelerator {
 public:
  explicit Accelerator(const AcceleratorConfig& config)
      : launch_ps_(static_cast<TimePs>(config.kernel_launch_ns * 1000.0 + 0.5)),
        local_latency_ps_(static_cast<TimePs>(config.scale_up_latency_ns * 1000.0 + 0.5)),
        local_ps_per_byte_(8000.0 / config.scale_up_gbps) {}

  /// When a computation that is ready now ends. A kernel's launch is hidden behind the one before it in its stream.
  TimePs compute(TimePs now, const WorkNode& node) {
    if (node.stream == kNoStream) return now + node.duration;
    TimePs& free = free_at_[std::uint64_t{node.rank} << 8 | node.stream];
    free = std::max(now + launch_ps_, free) + node.duration;
    return free;
  }
  /// When a message to a rank of the same node is there: it takes the scale-up fabric, whose links are not shared.
  TimePs local_message(TimePs now, std::uint64_t bytes) const {
    return now + local_latency_ps_ + static_cast<TimePs>(static_cast<double>(bytes) * local_ps_per_byte_ + 0.5);
  }

 private:
  TimePs launch_ps_;
  TimePs local_latency_ps_;
  double local_ps_per_byte_;
  std::unordered_map<std::uint64_t, TimePs> free_at_;  ///< by rank and stream
};

}  // namespace mrc
