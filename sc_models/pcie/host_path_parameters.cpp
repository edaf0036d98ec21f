#include "pcie/host_path_parameters.h"

#include <fmt/format.h>

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<CacheState>() {
  return {"cold", "warm"};
}
template <>
std::vector<std::string> words_of<PeerWay>() {
  return {"root_complex", "pcie_switch"};
}

std::string contradiction(const HostPathConfig& host) {
  const IommuConfig& iommu = host.iommu;
  if (iommu.iotlb_ways > 0 && iommu.iotlb_entries % iommu.iotlb_ways != 0) {
    return fmt::format("host.iommu.iotlb_entries = {} is not a multiple of host.iommu.iotlb_ways = {}",
                       iommu.iotlb_entries, iommu.iotlb_ways);
  }
  const HostCacheConfig& cache = host.cache;
  if (cache.bytes % (64ULL * cache.ways) != 0) {
    return fmt::format("host.cache.bytes = {} is not a multiple of 64 B in each of host.cache.ways = {}", cache.bytes,
                       cache.ways);
  }
  if (cache.ddio_ways > cache.ways) {
    return fmt::format("host.cache.ddio_ways = {} is more than host.cache.ways = {}", cache.ddio_ways, cache.ways);
  }
  if (host.memory.gbps > 0 && host.memory.other_load_gbps >= host.memory.gbps) {
    return fmt::format("host.memory.other_load_gbps = {} leaves nothing of host.memory.gbps = {}",
                       host.memory.other_load_gbps, host.memory.gbps);
  }
  if (host.memory.refresh_ns >= host.memory.refresh_interval_ns) {
    return fmt::format("host.memory.refresh_ns = {} is not below host.memory.refresh_interval_ns = {}",
                       host.memory.refresh_ns, host.memory.refresh_interval_ns);
  }
  const PcieSwitchConfig& pcie_switch = host.pcie_switch;
  if (pcie_switch.uplink_gbps > 0 && pcie_switch.other_load_gbps >= pcie_switch.uplink_gbps) {
    return fmt::format("host.pcie_switch.other_load_gbps = {} leaves nothing of host.pcie_switch.uplink_gbps = {}",
                       pcie_switch.other_load_gbps, pcie_switch.uplink_gbps);
  }
  if (host.peer.way == PeerWay::pcie_switch && pcie_switch.latency_ns == 0) {
    return "host.peer.way = pcie_switch needs a switch: host.pcie_switch.latency_ns is 0";
  }
  const AcceleratorTrafficConfig& traffic = host.accelerator_traffic;
  if (traffic.period_us > 0 && !(traffic.burst_us > 0 && traffic.burst_us <= traffic.period_us)) {
    return fmt::format(
        "host.accelerator_traffic.burst_us = {} is not above 0 and at most host.accelerator_traffic.period_us = {}",
        traffic.burst_us, traffic.period_us);
  }
  const double memory_left = host.memory.gbps - host.memory.other_load_gbps;
  if (host.memory.gbps > 0 && traffic.period_us == 0 && traffic.gbps >= memory_left) {
    return fmt::format("host.accelerator_traffic.gbps = {} leaves nothing of the {} that host.memory has", traffic.gbps,
                       memory_left);
  }
  const double uplink_left = pcie_switch.uplink_gbps - pcie_switch.other_load_gbps;
  if (pcie_switch.uplink_gbps > 0 && traffic.period_us == 0 && traffic.gbps >= uplink_left) {
    return fmt::format("host.accelerator_traffic.gbps = {} leaves nothing of the {} that host.pcie_switch has",
                       traffic.gbps, uplink_left);
  }
  return {};
}

void add_host_path_parameters(ParameterTable& table) {
  MRC_NODE(host.root_complex.outstanding_reads, "requests", 0, 65'536,
           "read requests that the host works on at a time; 0: any number", assumption);
  MRC_NODE(host.iommu.iotlb_entries, "entries", 0, 1'048'576,
           "pages in the host's cache of address translations (IOTLB), which all TLPs of the NIC need; 0: no IOMMU",
           assumption);
  MRC_NODE(host.iommu.iotlb_ways, "ways", 0, 4096, "associativity of the IOTLB; 0: fully associative", assumption);
  MRC_NODE(host.iommu.page_bytes, "bytes", 4'096, k1G, "page size of the host's translation", assumption);
  table.only({"4096", "65536", "2097152", "1073741824"});
  MRC_NODE(host.iommu.hit_ns, "ns", 0, 10'000, "time of a lookup that hits the IOTLB", assumption);
  MRC_NODE(host.iommu.walkers, "walkers", 1, 4'096, "page table walks of the IOMMU at a time", assumption);
  MRC_NODE(host.iommu.walk_ns, "ns", 0, 1e6, "time of a page table walk whose upper levels are cached", measured);
  MRC_NODE(host.iommu.level_ns, "ns", 0, 1e6, "additional time of a walk for each upper level that is not cached",
           assumption);
  MRC_NODE(host.iommu.table_cache_entries, "entries", 0, 1'048'576,
           "cached page table entries of each upper level; 0: all are cached", assumption);
  MRC_NODE(host.cache.bytes, "bytes", 0, k1G, "last-level cache that devices read from and write to; 0: no cache",
           assumption);
  MRC_NODE(host.cache.ways, "ways", 1, 64, "associativity of the last-level cache", assumption);
  MRC_NODE(host.cache.ddio_ways, "ways", 0, 64,
           "ways in which a write of a device that misses finds room (DDIO); 0: such writes go to memory", assumption);
  MRC_NODE(host.cache.miss_ns, "ns", 0, 1e6, "additional latency of an access that memory serves, not the cache",
           measured);
  MRC_NODE(
      host.cache.state, "", 0, 0,
      "content at first: cold: modified data of other software; warm: the memory that the NIC uses, as far as it fits",
      assumption);
  MRC_NODE(host.memory.gbps, "Gb/s", 0, 1e6, "memory bandwidth of a socket; 0: not limited", assumption);
  MRC_NODE(host.memory.other_load_gbps, "Gb/s", 0, 1e6,
           "memory bandwidth that other software and devices of the host use", assumption);
  MRC_NODE(host.memory.refresh_ns, "ns", 0, 10'000,
           "time for which a refresh blocks an access to memory (tRFC); 0: no refresh", assumption);
  MRC_NODE(host.memory.refresh_interval_ns, "ns", 100, 100'000, "time between two refreshes (tREFI)", assumption);
  MRC_NODE(host.numa.remote_share, "", 0, 1, "share of the pages that lie at another socket than the NIC", assumption);
  MRC_NODE(host.numa.remote_ns, "ns", 0, 1e6,
           "additional latency of an access to another socket, compared with one that finds its data in the cache",
           measured);
  MRC_NODE(host.numa.link_gbps, "Gb/s", 0, 1e6,
           "bandwidth of the link between sockets that the NIC finds, each way; 0: not limited", assumption);
  MRC_NODE(host.pcie_switch.latency_ns, "ns", 0, 10'000,
           "time of a TLP in the PCIe switch between NIC and host, each way; 0: no switch", assumption);
  MRC_NODE(host.pcie_switch.uplink_gbps, "Gb/s", 0, 1e6,
           "bandwidth of the link from that switch to the host, each way; 0: not limited", assumption);
  MRC_NODE(host.pcie_switch.other_load_gbps, "Gb/s", 0, 1e6,
           "bandwidth of that link, each way, that other devices behind the switch use", assumption);
  MRC_NODE(
      host.peer.way, "", 0, 0,
      "way of the NIC's TLPs to the memory of an accelerator (accelerator.payload_memory = gpu_direct): through the "
      "host's root complex, or across the switch alone",
      assumption);
  MRC_NODE(host.peer.read_ns, "ns", 0, 1e6,
           "time from a read request for an accelerator's memory until its first completion; 0: that of the host and "
           "accelerator.direct_read_ns",
           assumption);
  MRC_NODE(host.peer.read_gbps, "Gb/s", 0, 1e6, "rate at which an accelerator's memory can be read; 0: not limited",
           assumption);
  MRC_NODE(host.peer.write_gbps, "Gb/s", 0, 1e6, "rate at which it can be written; 0: not limited", assumption);
  MRC_NODE(host.peer.outstanding_reads, "requests", 0, 65'536,
           "read requests that the accelerator works on at a time; 0: any number", assumption);
  MRC_NODE(host.accelerator_traffic.gbps, "Gb/s", 0, 1e6,
           "rate at which accelerators move data between their memory and the host's: of host.memory, and each way of "
           "host.pcie_switch",
           assumption);
  MRC_NODE(host.accelerator_traffic.burst_us, "us", 0, 1e6, "of each period, for how long they do", assumption);
  MRC_NODE(host.accelerator_traffic.period_us, "us", 0, 1e6, "time from one burst to the next; 0: always", assumption);
}

}  // namespace mrc
