// The NIC's cache of address translations (ATS): least recently used, by page. A miss asks the host and takes a fixed
// time; a limited number of misses can be outstanding, others wait for one of them to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

class AddressTranslation {
 public:
  explicit AddressTranslation(const PcieConfig::AddressTranslation& config)
      : entries_(config.request == TranslationRequest::fixed ? config.entries : 0),
        page_bytes_(config.page_bytes),
        hit_ps_(static_cast<TimePs>(config.hit_ns * 1000.0 + 0.5)),
        miss_ps_(static_cast<TimePs>(config.miss_ns * 1000.0 + 0.5)),
        walker_free_at_(config.outstanding_misses, 0) {}

  bool enabled() const { return entries_ > 0; }

  /// Time from which all `bytes` (at least 1) at `address` are translated; a page that is not there is asked for now.
  TimePs ready_at(TimePs now, std::uint64_t address, std::uint32_t bytes) {
    TimePs ready = now + hit_ps_;
    for (std::uint64_t page = address / page_bytes_; page <= (address + bytes - 1) / page_bytes_; ++page) {
      ++lookups_;
      ready = std::max(ready, page_ready_at(now, page));
    }
    return ready;
  }
  std::uint64_t lookups() const { return lookups_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct Entry {
    std::uint64_t page = 0;
    TimePs ready_at = 0;
  };

  TimePs page_ready_at(TimePs now, std::uint64_t page) {
    if (const auto found = by_page_.find(page); found != by_page_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->ready_at;
    }
    // All misses take the same time, so the walkers come free in the order in which they began.
    TimePs& walker = walker_free_at_[misses_++ % walker_free_at_.size()];
    walker = std::max(walker, now) + miss_ps_;
    if (recent_.size() == entries_) {
      by_page_.erase(recent_.back().page);
      recent_.pop_back();
    }
    recent_.push_front({page, walker});
    by_page_[page] = recent_.begin();
    return walker;
  }

  std::uint32_t entries_;
  std::uint64_t page_bytes_;
  TimePs hit_ps_;
  TimePs miss_ps_;
  std::vector<TimePs> walker_free_at_;
  std::list<Entry> recent_;
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_page_;
  std::uint64_t lookups_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace mrc
