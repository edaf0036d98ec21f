// What lies between the PCIe link and the host's memory: address translation, last-level cache, memory, sockets. All of
// it is off by default; the read latency of [pcie] is then that of the whole host.
#pragma once

#include <cstdint>
#include <string>

namespace mrc {

class ParameterTable;

/// The root port: how many read requests the host works on at a time.
struct RootComplexConfig {
  std::uint32_t outstanding_reads = 0;  ///< 0: any number
};

/// Translation of the addresses of all TLPs by the host (IOMMU).
struct IommuConfig {
  std::uint32_t iotlb_entries = 0;  ///< 0: no IOMMU
  std::uint32_t iotlb_ways = 0;     ///< 0: fully associative
  std::uint64_t page_bytes = 4096;
  double hit_ns = 0;
  std::uint32_t walkers = 6;
  double walk_ns = 330.0;                 ///< with the upper levels of the page table cached
  double level_ns = 80.0;                 ///< each upper level that is not cached
  std::uint32_t table_cache_entries = 0;  ///< of each upper level; 0: all are cached
};

/// Whose data are in the last-level cache at first: those of other software, or those of the NIC's regions.
enum class CacheState : std::uint8_t { cold, warm };

struct HostCacheConfig {
  std::uint64_t bytes = 0;  ///< 0: no cache is modelled
  std::uint32_t ways = 20;
  std::uint32_t ddio_ways = 2;  ///< in which writes of devices find room
  double miss_ns = 70.0;        ///< what memory takes longer than the cache
  CacheState state = CacheState::cold;
};

struct MemoryBandwidthConfig {
  double gbps = 0;  ///< 0: not limited
  double other_load_gbps = 0;
  double refresh_ns = 0;  ///< how long a refresh blocks an access (tRFC); 0: no refresh is modelled
  double refresh_interval_ns = 7800.0;
};

/// The sockets. Which pages lie at the remote one depends on their number alone. The cache, which holds lines of all of
/// them, and the memory bandwidth are those of the NIC's own socket.
struct NumaConfig {
  double remote_share = 0;
  double remote_ns = 100.0;
  double link_gbps = 0;  ///< each way; 0: not limited
};

/// A PCIe switch between the NIC and the host.
struct PcieSwitchConfig {
  double latency_ns = 0;   ///< of each TLP, each way
  double uplink_gbps = 0;  ///< to the host, each way; 0: not limited
  double other_load_gbps = 0;
};

/// On which way the NIC's TLPs reach the memory of an accelerator: through the host, or across the switch.
enum class PeerWay : std::uint8_t { root_complex, pcie_switch };

/// An accelerator's memory that the NIC reads and writes over PCIe, peer to peer.
struct PeerMemoryConfig {
  PeerWay way = PeerWay::root_complex;
  double read_ns = 0;  ///< from the request to its first completion; 0: the host's and accelerator.direct_read_ns
  double read_gbps = 0;
  double write_gbps = 0;
  std::uint32_t outstanding_reads = 0;
};

/// What the accelerators of the host move between their memory and the host's.
struct AcceleratorTrafficConfig {
  double gbps = 0;
  double burst_us = 0;   ///< of each period
  double period_us = 0;  ///< 0: always
};

struct HostPathConfig {
  RootComplexConfig root_complex;
  IommuConfig iommu;
  HostCacheConfig cache;
  MemoryBandwidthConfig memory;
  NumaConfig numa;
  PcieSwitchConfig pcie_switch;
  PeerMemoryConfig peer;
  AcceleratorTrafficConfig accelerator_traffic;

  /// False: no TLP takes a picosecond longer because of it.
  bool is_modelled() const {
    return root_complex.outstanding_reads > 0 || iommu.iotlb_entries > 0 || cache.bytes > 0 || memory.gbps > 0 ||
           memory.refresh_ns > 0 || numa.remote_share > 0 || pcie_switch.latency_ns > 0 ||
           pcie_switch.uplink_gbps > 0 || peer.read_ns > 0 || peer.read_gbps > 0 || peer.write_gbps > 0 ||
           peer.outstanding_reads > 0;
  }
};

/// What in a configuration cannot work, in one line; empty when nothing does.
std::string contradiction(const HostPathConfig& host);

void add_host_path_parameters(ParameterTable& table);

}  // namespace mrc
