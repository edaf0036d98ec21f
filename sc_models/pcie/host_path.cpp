#include "pcie/host_path.h"

#include <algorithm>

#include "mrc/random.h"

namespace mrc {
namespace {

/// Pages of the operating system, which decides what lies at which socket.
constexpr std::uint64_t kHostPageBytes = 4096;

}  // namespace

HostPath::Causes::Causes(CauseTable& table)
    : of{table.declare("host.root_complex", {"host.root_complex.outstanding_reads"}),
         table.declare("host.iommu", {"host.iommu.iotlb_entries", "host.iommu.walkers", "host.iommu.walk_ns"}),
         table.declare("host.memory", {"host.memory.gbps", "host.cache.bytes", "host.cache.ddio_ways"}),
         table.declare("host.numa_link", {"host.numa.link_gbps", "host.numa.remote_share"})} {}

HostPath::HostPath(const HostPathConfig& config)
    : config_(config),
      miss_ps_(ps_from_ns(config.cache.miss_ns)),
      remote_ps_(ps_from_ns(config.numa.remote_ns)),
      refresh_ps_(ps_from_ns(config.memory.refresh_ns)),
      refresh_interval_ps_(ps_from_ns(config.memory.refresh_interval_ns)),
      iommu_(config.iommu),
      cache_(config.cache),
      memory_(config.memory.gbps - config.memory.other_load_gbps),
      from_remote_(config.numa.link_gbps),
      to_remote_(config.numa.link_gbps) {
  for (std::uint32_t i = 0; i < config.root_complex.outstanding_reads; ++i) reads_end_.push(0);
}

bool HostPath::is_remote(std::uint64_t address) const {
  const double share = config_.numa.remote_share;
  if (share <= 0 || share >= 1) return share >= 1;
  return static_cast<double>(mix64(address / kHostPageBytes) >> 11) * 0x1.0p-53 < share;
}

void HostPath::translate(Way& way, std::uint64_t address, std::uint32_t bytes) {
  if (!iommu_.enabled()) return;
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

HostPath::Times HostPath::read(TimePs time, TimePs latency, std::uint64_t address, std::uint32_t bytes) {
  forget_before(time);
  Way way(time);
  const bool bounded = !reads_end_.empty();
  if (bounded) {
    const TimePs begin = std::max(time, reads_end_.top());
    reads_end_.pop();
    way.until(begin, begin - time, HostPart::root_complex);
  }
  translate(way, address, bytes);
  read_memory(way, address, bytes);
  const TimePs ready = way.now + latency;
  if (bounded) reads_end_.push(ready);
  return {.ready = ready, .taken = ready, .waited = way.waited, .where = way.where};
}

HostPath::Times HostPath::write(TimePs time, std::uint64_t address, std::uint32_t bytes) {
  forget_before(time);
  Way way(time);
  translate(way, address, bytes);
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
