// The host's translation of the addresses of TLPs (IOMMU). Pages in its cache (IOTLB) cost a lookup. Others need a walk
// of the page table by one of a few walkers; requests for a page that is being walked to wait for that walk, and others
// pass them.
#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mrc/types.h"
#include "pcie/host_path_parameters.h"
#include "pcie/lru_sets.h"

namespace mrc {

class Iommu {
 public:
  struct Translated {
    TimePs at = 0;
    TimePs waited = 0;  ///< of it, for a walker
  };

  explicit Iommu(const IommuConfig& config);

  bool enabled() const { return config_.iotlb_entries > 0; }
  /// When all of `bytes` (at least 1) at `address` are translated, for a TLP that comes at `time`. Calls come in the
  /// order of the TLPs.
  Translated translate(TimePs time, std::uint64_t address, std::uint32_t bytes);

  std::uint64_t lookups() const { return lookups_; }
  std::uint64_t walks() const { return walks_; }

 private:
  struct Walk {
    TimePs done = 0;
    std::uint64_t page = 0;
    friend bool operator>(const Walk& a, const Walk& b) { return a.done != b.done ? a.done > b.done : a.page > b.page; }
  };
  template <typename Item>
  using EarliestFirst = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

  Translated translate_page(TimePs time, std::uint64_t page);
  void finish_walks(TimePs time);
  TimePs walk_time(std::uint64_t page);

  IommuConfig config_;
  TimePs hit_ps_;
  TimePs walk_ps_;
  TimePs level_ps_;
  LruSets iotlb_;
  std::vector<std::pair<std::uint64_t, LruSets>> upper_levels_;  ///< pages below an entry, and which entries are cached
  std::unordered_map<std::uint64_t, Translated> under_way_;      ///< by page
  EarliestFirst<Walk> walks_under_way_;
  EarliestFirst<TimePs> walker_free_at_;
  std::uint64_t lookups_ = 0;
  std::uint64_t walks_ = 0;
};

}  // namespace mrc
