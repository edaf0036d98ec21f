// What a TLP meets in the host between the link and memory: the root complex, translation, the last-level cache, memory
// and the link to another socket. Times are known as a TLP is looked at; TLPs are looked at in the order in which they
// leave the NIC.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "engine/cause.h"
#include "mrc/types.h"
#include "pcie/host_cache.h"
#include "pcie/host_path_parameters.h"
#include "pcie/iommu.h"
#include "pcie/shared_rate.h"

namespace mrc {

/// Where TLPs of a NIC queue in its host.
enum class HostPart : std::uint8_t { root_complex, iommu, memory, numa_link };
inline constexpr std::size_t kHostParts = 4;

struct HostPathCounts {
  std::uint64_t iotlb_lookups = 0;
  std::uint64_t page_walks = 0;
  std::uint64_t cache_misses = 0;     ///< lines that were read from memory for a read
  std::uint64_t cache_evictions = 0;  ///< lines that memory read or wrote for a write
  std::uint64_t remote_tlps = 0;
};

class HostPath {
 public:
  /// What holds up a TLP that waits for one of these.
  struct Causes {
    explicit Causes(CauseTable& table);
    Cause operator[](HostPart part) const { return of[static_cast<std::size_t>(part)]; }
    std::array<Cause, kHostParts> of;
  };
  struct Times {
    TimePs ready =
        0;  ///< of a read: its first completion can be sent; of a write: it is visible, less [pcie]'s latency
    TimePs taken = 0;   ///< of a write: it leaves the buffers whose credits it holds
    TimePs waited = 0;  ///< the longest of its waits in queues, and where
    HostPart where = HostPart::root_complex;
  };

  explicit HostPath(const HostPathConfig& config);

  /// A read request comes at `time`, and is answered after `latency` where nothing holds it up.
  Times read(TimePs time, TimePs latency, std::uint64_t address, std::uint32_t bytes);
  /// A write TLP has come at `time`.
  Times write(TimePs time, std::uint64_t address, std::uint32_t bytes);
  /// Software uses this memory: in a warm cache it is there, as far as it fits.
  void warm(std::uint64_t address, std::uint64_t bytes) {
    if (cache_.enabled() && config_.cache.state == CacheState::warm) cache_.warm(address, bytes);
  }

  /// The NIC has written it before.
  void written_before(std::uint64_t address, std::uint32_t bytes) {
    if (cache_.enabled()) cache_.write(address, bytes);
  }

  const HostPathConfig& config() const { return config_; }
  HostPathCounts counts() const;

 private:
  /// Of one TLP on its way.
  class Way {
   public:
    explicit Way(TimePs time) : now(time) {}
    void until(TimePs time, TimePs queued, HostPart part) {
      now = time;
      if (queued <= waited) return;
      waited = queued;
      where = part;
    }
    TimePs now;
    TimePs waited = 0;
    HostPart where = HostPart::root_complex;
  };

  bool is_remote(std::uint64_t address) const;
  /// The time that an access to memory at `time` waits for a refresh.
  TimePs refresh_wait(TimePs time, std::uint64_t address) const;
  void read_memory(Way& way, std::uint64_t address, std::uint32_t bytes);
  void translate(Way& way, std::uint64_t address, std::uint32_t bytes);
  void pass(Way& way, SharedRate& rate, std::uint64_t bytes, HostPart part);
  void forget_before(TimePs time);

  HostPathConfig config_;
  TimePs miss_ps_;
  TimePs remote_ps_;
  TimePs refresh_ps_;
  TimePs refresh_interval_ps_;
  Iommu iommu_;
  HostCache cache_;
  SharedRate memory_;
  SharedRate from_remote_;
  SharedRate to_remote_;
  std::priority_queue<TimePs, std::vector<TimePs>, std::greater<>> reads_end_;  ///< of those that the host works on
  TimePs last_taken_ = 0;
  HostPathCounts counts_;
};

}  // namespace mrc
