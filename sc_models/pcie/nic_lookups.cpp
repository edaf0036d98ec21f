#include "pcie/nic_lookups.h"

#include <iterator>

namespace mrc {
namespace {

/// Where the tables are in host memory, away from all regions.
constexpr std::uint64_t kTablesBase = 1ULL << 52;
constexpr std::uint64_t kTableBytes = 1ULL << 48;
constexpr std::uint32_t kKeyBytes = 64;
constexpr std::uint32_t kPageEntryBytes = 8;

std::uint32_t rounded_up(std::uint32_t entries, std::uint32_t per_read) {
  return (entries + per_read - 1) / per_read;
}

}  // namespace

bool NicLookups::wanted(const PcieConfig& config) {
  return config.memory_table.key_entries > 0 || config.memory_table.page_entries > 0 ||
         (config.address_translation.entries > 0 && config.address_translation.request == TranslationRequest::link);
}

NicLookups::NicLookups(const PcieConfig& config, LookupUser& user)
    : tables_(config.memory_table),
      translation_(config.address_translation),
      user_(user),
      caches_{{{tables_.key_entries, LruSets(tables_.key_entries, 0)},
               {tables_.page_entries, LruSets(rounded_up(tables_.page_entries, tables_.pages_per_read), 0)},
               {translation_.request == TranslationRequest::link ? translation_.entries : 0,
                LruSets(translation_.entries, 0)}}},
      unit_bytes_{0, tables_.page_bytes * tables_.pages_per_read, translation_.page_bytes},
      most_fetches_(uses(0) || uses(1) ? tables_.outstanding_misses : translation_.outstanding_misses),
      deregister_every_(ps_from_ns(1000.0 * tables_.deregister_every_us)),
      next_deregistration_(deregister_every_ > 0 ? deregister_every_ : kNever) {}

bool NicLookups::is_registered(std::uint64_t address) const {
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address - begin < bytes;
}

std::pair<std::uint64_t, std::uint64_t> NicLookups::entries_of(const Access& access) const {
  if (access.table == static_cast<std::size_t>(LookupTable::keys)) {
    const std::uint64_t region = std::prev(regions_.upper_bound(access.address))->first;
    return {region, region};
  }
  const std::uint64_t unit = unit_bytes_[access.table];
  return {access.address / unit, (access.address + access.bytes - 1) / unit};
}

bool NicLookups::advance(TimePs now, Access& access) {
  for (; access.table < kLookupTables; ++access.table) {
    if (!uses(access.table)) continue;
    const auto [first, last] = entries_of(access);
    for (std::uint64_t entry = first; entry <= last; ++entry) {
      ++counts_[access.table].lookups;
      if (caches_[access.table].second.use(entry)) continue;
      ++access.missing;
      miss(now, {static_cast<LookupTable>(access.table), entry}, access.number);
    }
    if (access.missing > 0) return false;
  }
  return true;
}

void NicLookups::miss(TimePs now, const LookupEntry& entry, std::uint64_t access) {
  const auto [fetch, is_new] = under_way_.try_emplace(entry);
  fetch->second.accesses.push_back(access);
  if (!is_new) return;
  ++counts_[static_cast<std::size_t>(entry.table)].misses;
  if (fetches_ == most_fetches_) {
    line_.push_back(entry);
    return;
  }
  ++fetches_;
  user_.fetch(now, entry);
}

bool NicLookups::look_up(TimePs now, std::uint64_t address, std::uint32_t bytes, std::uint64_t access) {
  invalidate_until(now);
  Access one{access, address, bytes};
  if (advance(now, one)) {
    user_.looked_up(now, access);
    return true;
  }
  waiting_.emplace(access, one);
  return false;
}

LookupTable NicLookups::waits_for(std::uint64_t access) const {
  return static_cast<LookupTable>(waiting_.at(access).table);
}

void NicLookups::fetched(TimePs now, const LookupEntry& entry) {
  invalidate_until(now);
  const auto found = under_way_.find(entry);
  const Fetch fetch = std::move(found->second);
  under_way_.erase(found);
  if (!fetch.stale) caches_[static_cast<std::size_t>(entry.table)].second.insert(entry.number);
  --fetches_;
  for (; fetches_ < most_fetches_ && !line_.empty(); line_.pop_front()) {
    ++fetches_;
    user_.fetch(now, line_.front());
  }
  for (const std::uint64_t number : fetch.accesses) {
    Access& access = waiting_.at(number);
    if (--access.missing > 0) continue;
    ++access.table;
    if (!advance(now, access)) continue;
    waiting_.erase(number);
    user_.looked_up(now, number);
  }
}

void NicLookups::invalidate_until(TimePs now) {
  for (; next_deregistration_ <= now; next_deregistration_ += deregister_every_) {
    if (regions_.empty()) continue;
    auto region = regions_.lower_bound(next_region_);
    if (region == regions_.end()) region = regions_.begin();
    invalidate(region->first, region->second);
    next_region_ = region->first + 1;
  }
}

void NicLookups::invalidate(std::uint64_t address, std::uint64_t bytes) {
  for (std::size_t table = 0; table < kLookupTables; ++table) {
    if (!uses(table)) continue;
    // A key is the address of its region.
    const std::uint64_t unit = unit_bytes_[table];
    const std::uint64_t first = unit == 0 ? address : address / unit;
    const std::uint64_t last = unit == 0 ? first : (address + bytes - 1) / unit;
    caches_[table].second.erase_if([first, last](std::uint64_t key) { return key >= first && key <= last; });
    for (auto& [entry, fetch] : under_way_) {
      if (entry.table == static_cast<LookupTable>(table) && entry.number >= first && entry.number <= last) {
        fetch.stale = true;
      }
    }
  }
}

std::uint64_t NicLookups::table_address(const LookupEntry& entry) const {
  if (entry.table == LookupTable::translations) return entry.number * translation_.page_bytes;
  if (entry.table == LookupTable::pages) {
    return kTablesBase + entry.number * kPageEntryBytes * tables_.pages_per_read;
  }
  const auto number = static_cast<std::uint64_t>(std::distance(regions_.begin(), regions_.find(entry.number)));
  return kTablesBase + kTableBytes + number * kKeyBytes;
}

std::uint32_t NicLookups::table_bytes(const LookupEntry& entry) const {
  if (entry.table == LookupTable::keys) return kKeyBytes;
  return entry.table == LookupTable::pages ? kPageEntryBytes * tables_.pages_per_read : kPageEntryBytes;
}

}  // namespace mrc
