// What a TLP meets in the host between the link and memory: the root complex, translation, the last-level cache, memory
// and the link to another socket. Times are known as a TLP is looked at; TLPs are looked at in the order in which they
// leave the NIC.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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
enum class HostPart : std::uint8_t { root_complex, iommu, memory, numa_link, pcie_switch, peer };
inline constexpr std::size_t kHostParts = 6;

/// How the host finds the memory of an access: by an address that it translates, by one that the NIC has had
/// translated, or not at all, because the translation is what is asked for.
enum class HostAccess : std::uint8_t { by_address, translated, translation };

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
    TimePs taken = 0;   ///< of a read: its latency begins; of a write: it leaves the buffers whose credits it holds
    TimePs waited = 0;  ///< the longest of its waits in queues, and where
    HostPart where = HostPart::root_complex;
  };

  /// `peer_regions`: what software registers is memory of an accelerator, not of the host.
  HostPath(const HostPathConfig& config, bool peer_regions);

  /// A read request comes at `time`, and is answered after `latency` where nothing holds it up.
  Times read(TimePs time, TimePs latency, std::uint64_t address, std::uint32_t bytes, HostAccess access);
  /// A write TLP has come at `time`.
  Times write(TimePs time, std::uint64_t address, std::uint32_t bytes, HostAccess access);
  /// Software has registered this memory and uses it: in a warm cache it is there, as far as it fits.
  void add_region(std::uint64_t address, std::uint64_t bytes) {
    if (peer_regions_) {
      regions_.emplace(address, bytes);
    } else if (cache_.enabled() && config_.cache.state == CacheState::warm) {
      cache_.warm(address, bytes);
    }
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

  using EarliestFirst = std::priority_queue<TimePs, std::vector<TimePs>, std::greater<>>;

  bool is_remote(std::uint64_t address) const;
  bool is_peer(std::uint64_t address) const;
  /// A read takes one of a few places, which it holds until it is answered.
  static bool take_place(Way& way, EarliestFirst& places, HostPart part);
  Times read_peer(Way& way, TimePs latency, std::uint64_t address, std::uint32_t bytes, HostAccess access);
  Times write_peer(Way& way, std::uint64_t address, std::uint32_t bytes, HostAccess access);
  /// The time that an access to memory at `time` waits for a refresh.
  TimePs refresh_wait(TimePs time, std::uint64_t address) const;
  void read_memory(Way& way, std::uint64_t address, std::uint32_t bytes);
  void translate(Way& way, std::uint64_t address, std::uint32_t bytes, HostAccess access);
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
  TimePs switch_ps_;
  SharedRate uplink_;    ///< of the switch, to the host
  SharedRate downlink_;  ///< from the host
  TimePs peer_read_ps_;
  SharedRate peer_reads_;
  SharedRate peer_writes_;
  bool peer_regions_;
  std::map<std::uint64_t, std::uint64_t> regions_;  ///< of an accelerator: bytes by address
  EarliestFirst reads_end_;                         ///< of those that the host works on
  EarliestFirst peer_reads_end_;
  TimePs last_taken_ = 0;
  HostPathCounts counts_;
};

}  // namespace mrc
