#include "pcie/iommu.h"

#include <algorithm>

namespace mrc {
namespace {

/// Entries of a table of one level (x86-64 and ARMv8 with 4 KiB granules).
constexpr std::uint64_t kTableEntries = 512;
/// Below the root: four levels of 9 bits each above pages of 4 KiB.
constexpr std::uint64_t kAddressSpaceBytes = 1ULL << 48;

}  // namespace

Iommu::Iommu(const IommuConfig& config)
    : config_(config),
      hit_ps_(ps_from_ns(config.hit_ns)),
      walk_ps_(ps_from_ns(config.walk_ns)),
      level_ps_(ps_from_ns(config.level_ns)),
      iotlb_(config.iotlb_entries, config.iotlb_ways) {
  for (std::uint32_t walker = 0; walker < config.walkers; ++walker) walker_free_at_.push(0);
  if (config.table_cache_entries == 0) return;
  for (std::uint64_t pages = kTableEntries; pages * config.page_bytes < kAddressSpaceBytes; pages *= kTableEntries) {
    upper_levels_.emplace_back(pages, LruSets(config.table_cache_entries, 0));
  }
}

Iommu::Translated Iommu::translate(TimePs time, std::uint64_t address, std::uint32_t bytes) {
  finish_walks(time);
  Translated all{time, 0};
  for (std::uint64_t page = address / config_.page_bytes; page <= (address + bytes - 1) / config_.page_bytes; ++page) {
    const Translated one = translate_page(time, page);
    if (one.at > all.at) all = one;
  }
  return all;
}

Iommu::Translated Iommu::translate_page(TimePs time, std::uint64_t page) {
  ++lookups_;
  if (iotlb_.use(page)) return {time + hit_ps_, 0};
  if (const auto found = under_way_.find(page); found != under_way_.end()) return found->second;
  ++walks_;
  const TimePs begin = std::max(time + hit_ps_, walker_free_at_.top());
  const TimePs done = begin + walk_time(page);
  walker_free_at_.pop();
  walker_free_at_.push(done);
  const Translated translated{done, begin - time - hit_ps_};
  under_way_[page] = translated;
  walks_under_way_.push({done, page});
  return translated;
}

void Iommu::finish_walks(TimePs time) {
  for (; !walks_under_way_.empty() && walks_under_way_.top().done <= time; walks_under_way_.pop()) {
    iotlb_.insert(walks_under_way_.top().page);
    under_way_.erase(walks_under_way_.top().page);
  }
}

TimePs Iommu::walk_time(std::uint64_t page) {
  TimePs time = walk_ps_;
  for (auto& [pages, cached] : upper_levels_) {
    if (cached.use(page / pages)) break;
    cached.insert(page / pages);
    time += level_ps_;
  }
  return time;
}

}  // namespace mrc
