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
      : launch_ps_(to_ps(config.kernel_launch_ns)),
        local_latency_ps_(to_ps(config.scale_up_latency_ns)),
        local_ps_per_byte_(8000.0 / config.scale_up_gbps),
        staged_(config.payload_memory == PayloadMemory::staged),
        flush_ps_(config.payload_memory == PayloadMemory::gpu_direct ? to_ps(config.direct_flush_ns) : 0),
        copy_latency_ps_(to_ps(config.copy_latency_ns)),
        copy_ps_per_byte_(8000.0 / config.copy_gbps) {}

  /// End of a computation that is ready now. The launch of a kernel is hidden behind the previous one in its stream.
  TimePs compute(TimePs now, const WorkNode& node) {
    if (node.stream == kNoStream) return now + node.duration;
    TimePs& free = free_at_[std::uint64_t{node.rank} << 8 | node.stream];
    free = std::max(now + launch_ps_, free) + node.duration;
    return free;
  }
  /// Arrival of a message to a rank of the same node: it uses the scale-up fabric, whose links are not shared.
  TimePs local_message(TimePs now, std::uint64_t bytes) const {
    return now + local_latency_ps_ + static_cast<TimePs>(static_cast<double>(bytes) * local_ps_per_byte_ + 0.5);
  }

  /// Payload is copied between the accelerator's memory and the host's.
  bool staged() const { return staged_; }
  /// End of the copy of a message to (or from) host memory: one at a time per rank and direction.
  TimePs copy(TimePs now, std::uint32_t rank, std::uint64_t bytes, bool to_host) {
    TimePs& free = copy_free_at_[std::uint64_t{rank} << 1 | (to_host ? 1 : 0)];
    free = std::max(now, free) + static_cast<TimePs>(static_cast<double>(bytes) * copy_ps_per_byte_ + 0.5);
    return free + copy_latency_ps_;
  }
  /// What its streams do ends so much earlier by the kernel's clock.
  void skip(TimePs time) {
    for (auto* free_at : {&copy_free_at_, &free_at_}) {
      for (auto& [stream, free] : *free_at) free -= std::min(free, time);
    }
  }
  /// Time from the completion of a receive until software may use its bytes.
  TimePs flush_ps() const { return flush_ps_; }

 private:
  static TimePs to_ps(double ns) { return static_cast<TimePs>(ns * 1000.0 + 0.5); }

  TimePs launch_ps_;
  TimePs local_latency_ps_;
  double local_ps_per_byte_;
  bool staged_;
  TimePs flush_ps_;
  TimePs copy_latency_ps_;
  double copy_ps_per_byte_;
  std::unordered_map<std::uint64_t, TimePs> copy_free_at_;  ///< by rank and direction
  std::unordered_map<std::uint64_t, TimePs> free_at_;       ///< by rank and stream
};

}  // namespace mrc
