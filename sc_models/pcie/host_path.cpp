#include "pcie/host_path.h"

#include <algorithm>
#include <iterator>

#include "mrc/random.h"

namespace mrc {
namespace {

/// Pages of the operating system, which decides what lies at which socket.
constexpr std::uint64_t kHostPageBytes = 4096;

/// What is left of `gbps`; the accelerators' traffic comes in bursts.
SharedRate rate_of(double gbps, double other_gbps, const AcceleratorTrafficConfig& traffic) {
  const double left = gbps - other_gbps;
  if (gbps == 0 || traffic.gbps == 0) return SharedRate(left);
  return {left,
          {.share = std::min(1.0, traffic.gbps / left),
           .burst = ps_from_ns(1000.0 * traffic.burst_us),
           .period = ps_from_ns(1000.0 * traffic.period_us)}};
}

}  // namespace

HostPath::Causes::Causes(CauseTable& table)
    : of{table.declare("host.root_complex", {"host.root_complex.outstanding_reads"}),
         table.declare("host.iommu", {"host.iommu.iotlb_entries", "host.iommu.walkers", "host.iommu.walk_ns"}),
         table.declare("host.memory", {"host.memory.gbps", "host.cache.bytes", "host.cache.ddio_ways"}),
         table.declare("host.numa_link", {"host.numa.link_gbps", "host.numa.remote_share"}),
         table.declare("host.pcie_switch", {"host.pcie_switch.uplink_gbps"}),
         table.declare("host.peer", {"host.peer.read_gbps", "host.peer.write_gbps", "host.peer.outstanding_reads"})} {}

HostPath::HostPath(const HostPathConfig& config, bool peer_regions)
    : config_(config),
      miss_ps_(ps_from_ns(config.cache.miss_ns)),
      remote_ps_(ps_from_ns(config.numa.remote_ns)),
      refresh_ps_(ps_from_ns(config.memory.refresh_ns)),
      refresh_interval_ps_(ps_from_ns(config.memory.refresh_interval_ns)),
      iommu_(config.iommu),
      cache_(config.cache),
      memory_(rate_of(config.memory.gbps, config.memory.other_load_gbps, config.accelerator_traffic)),
      from_remote_(config.numa.link_gbps),
      to_remote_(config.numa.link_gbps),
      switch_ps_(ps_from_ns(config.pcie_switch.latency_ns)),
      uplink_(rate_of(config.pcie_switch.uplink_gbps, config.pcie_switch.other_load_gbps, config.accelerator_traffic)),
      downlink_(uplink_),
      peer_read_ps_(ps_from_ns(config.peer.read_ns)),
      peer_reads_(config.peer.read_gbps),
      peer_writes_(config.peer.write_gbps),
      peer_regions_(peer_regions) {
  for (std::uint32_t i = 0; i < config.root_complex.outstanding_reads; ++i) reads_end_.push(0);
  for (std::uint32_t i = 0; i < config.peer.outstanding_reads; ++i) peer_reads_end_.push(0);
}

bool HostPath::is_peer(std::uint64_t address) const {
  const auto after = regions_.upper_bound(address);
  return after != regions_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

bool HostPath::is_remote(std::uint64_t address) const {
  const double share = config_.numa.remote_share;
  if (share <= 0 || share >= 1) return share >= 1;
  return static_cast<double>(mix64(address / kHostPageBytes) >> 11) * 0x1.0p-53 < share;
}

void HostPath::translate(Way& way, std::uint64_t address, std::uint32_t bytes, HostAccess access) {
  if (!iommu_.enabled() || access == HostAccess::translated) return;
  const Iommu::Translated translated = iommu_.translate(way.now, address, bytes);
  way.until(translated.at, translated.waited, HostPart::iommu);
}

void HostPath::pass(Way& way, SharedRate& rate, std::uint64_t bytes, HostPart part) {
  if (!rate.limited() || bytes == 0) return;
  const TimePs end = rate.pass(way.now, bytes);
  way.until(end, end - way.now - std::min(end - way.now, rate.duration(bytes)), part);
}

void HostPath::forget_before(TimePs time) {
  memory_.forget_before(time);
  from_remote_.forget_before(time);
  to_remote_.forget_before(time);
  uplink_.forget_before(time);
  downlink_.forget_before(time);
  peer_reads_.forget_before(time);
  peer_writes_.forget_before(time);
}

TimePs HostPath::refresh_wait(TimePs time, std::uint64_t address) const {
  if (refresh_ps_ == 0) return 0;
  // Ranks are refreshed in turns; which one holds the line decides when.
  const TimePs phase = (time + mix64(address / HostCache::kLineBytes) % refresh_interval_ps_) % refresh_interval_ps_;
  return phase < refresh_ps_ ? refresh_ps_ - phase : 0;
}

void HostPath::read_memory(Way& way, std::uint64_t address, std::uint32_t bytes) {
  std::uint64_t from_memory = bytes;
  if (cache_.enabled()) {
    const std::uint32_t missing = cache_.read(address, bytes);
    if (missing == 0) return;
    counts_.cache_misses += missing;
    from_memory = std::uint64_t{missing} * HostCache::kLineBytes;
  }
  if (is_remote(address)) {
    ++counts_.remote_tlps;
    pass(way, from_remote_, from_memory, HostPart::numa_link);
    way.now += remote_ps_;
  } else {
    pass(way, memory_, from_memory, HostPart::memory);
    if (cache_.enabled()) way.now += miss_ps_;
  }
  way.now += refresh_wait(way.now, address);
}

bool HostPath::take_place(Way& way, EarliestFirst& places, HostPart part) {
  if (places.empty()) return false;
  const TimePs begin = std::max(way.now, places.top());
  places.pop();
  way.until(begin, begin - way.now, part);
  return true;
}

HostPath::Times HostPath::read(TimePs time, TimePs latency, std::uint64_t address, std::uint32_t bytes,
                               HostAccess access) {
  forget_before(time);
  Way way(time);
  way.now += switch_ps_;
  if (is_peer(address) && access != HostAccess::translation) return read_peer(way, latency, address, bytes, access);
  const bool bounded = take_place(way, reads_end_, HostPart::root_complex);
  translate(way, address, bytes, access);
  if (access != HostAccess::translation) read_memory(way, address, bytes);
  pass(way, downlink_, bytes, HostPart::pcie_switch);
  const TimePs ready = way.now + latency;
  if (bounded) reads_end_.push(ready);
  return {.ready = ready + switch_ps_, .taken = way.now, .waited = way.waited, .where = way.where};
}

HostPath::Times HostPath::read_peer(Way& way, TimePs latency, std::uint64_t address, std::uint32_t bytes,
                                    HostAccess access) {
  if (peer_read_ps_ > 0) latency = peer_read_ps_;
  bool in_host = false;
  if (config_.peer.way == PeerWay::root_complex) {
    in_host = take_place(way, reads_end_, HostPart::root_complex);
    translate(way, address, bytes, access);
    pass(way, downlink_, bytes, HostPart::pcie_switch);
  }
  const bool bounded = take_place(way, peer_reads_end_, HostPart::peer);
  pass(way, peer_reads_, bytes, HostPart::peer);
  const TimePs ready = way.now + latency;
  if (bounded) peer_reads_end_.push(ready);
  if (in_host) reads_end_.push(ready);
  return {.ready = ready + switch_ps_, .taken = way.now, .waited = way.waited, .where = way.where};
}

HostPath::Times HostPath::write_peer(Way& way, std::uint64_t address, std::uint32_t bytes, HostAccess access) {
  if (config_.peer.way == PeerWay::root_complex) {
    pass(way, uplink_, bytes, HostPart::pcie_switch);
    translate(way, address, bytes, access);
  }
  way.now = std::max(way.now, last_taken_);
  pass(way, peer_writes_, bytes, HostPart::peer);
  last_taken_ = way.now;
  return {.ready = way.now, .taken = way.now, .waited = way.waited, .where = way.where};
}

HostPath::Times HostPath::write(TimePs time, std::uint64_t address, std::uint32_t bytes, HostAccess access) {
  forget_before(time);
  Way way(time);
  way.now += switch_ps_;
  if (is_peer(address)) return write_peer(way, address, bytes, access);
  pass(way, uplink_, bytes, HostPart::pcie_switch);
  translate(way, address, bytes, access);
  // Posted writes keep their order, whatever one of them waits for.
  way.now = std::max(way.now, last_taken_);
  std::uint64_t to_memory = bytes;
  if (cache_.enabled()) {
    const std::uint32_t lines = cache_.write(address, bytes);
    counts_.cache_evictions += lines;
    to_memory = std::uint64_t{lines} * HostCache::kLineBytes;
  }
  // A displaced line goes where the new one comes from: whose it was is not known.
  const bool remote = to_memory > 0 && is_remote(address);
  if (remote) {
    ++counts_.remote_tlps;
    pass(way, to_remote_, to_memory, HostPart::numa_link);
  } else {
    pass(way, memory_, to_memory, HostPart::memory);
  }
  last_taken_ = way.now;
  TimePs visible = way.now;
  if (remote) {
    visible += remote_ps_;
  } else if (cache_.enabled() && to_memory > 0) {
    visible += miss_ps_;
  }
  return {.ready = visible, .taken = way.now, .waited = way.waited, .where = way.where};
}

HostPathCounts HostPath::counts() const {
  HostPathCounts counts = counts_;
  counts.iotlb_lookups = iommu_.lookups();
  counts.page_walks = iommu_.walks();
  return counts;
}

}  // namespace mrc
